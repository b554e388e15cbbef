package io.tessera.protocol.segment;

/** Kinds of submission, index into {@code submitted} of a thread slot ({@code TESSERA_KIND_*}). Never renumbered. */
public enum SubmissionKind {
    /** Kernel launches of every form, cooperative ones too. */
    LAUNCH,
    /** Launches of instantiated graphs. */
    GRAPH_LAUNCH,
    /** Copies of every form. */
    COPY,
    /** Memsets of every form. */
    MEMSET,
    /** Host functions in a stream. */
    HOST_FUNCTION,
    /** Stream wait and write values, batches of them, external semaphores. */
    MEMORY_OP,
    /** Prefetch, discard, attach, sparse mapping, decompression. */
    PREFETCH,
    /** Stream captures begun: a capture is not work, but no turn ends inside one. */
    CAPTURE;

    /** Returns the index into {@code submitted}. */
    public int index() {
        return ordinal();
    }
}
