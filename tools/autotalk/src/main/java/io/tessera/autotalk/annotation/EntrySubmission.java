package io.tessera.autotalk.annotation;

/** Kinds of submission; each is a {@code TESSERA_KIND_} constant of {@code native-preload/include/tessera_abi.h}. */
public enum EntrySubmission {
    /** Kernel launch. */
    LAUNCH,
    /** Launch or upload of a graph. */
    GRAPH_LAUNCH,
    /** Copy. */
    COPY,
    /** Memset. */
    MEMSET,
    /** Function of the host in a stream. */
    HOST_FUNCTION,
    /** Stream waits and writes, batches of them, external semaphores, graphics resources. */
    MEMORY_OP,
    /** Prefetch, discard, attach, sparse mapping, decompression. */
    PREFETCH;

    /** Returns the constant in the C header. */
    public String constant() {
        return "TESSERA_KIND_" + name();
    }
}
