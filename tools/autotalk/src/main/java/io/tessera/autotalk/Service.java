package io.tessera.autotalk;

/** How the direct port serves an entry. */
public sealed interface Service {

    /** A tail jump to the vendor's entry: no cost, nothing seen. */
    record Pass() implements Service {
    }

    /**
     * A generated wrapper that passes the gate before it calls the vendor.
     *
     * @param kind   which {@code TESSERA_KIND_*} it counts as
     * @param stream C expression of the stream among the parameters; empty: the entry's default stream
     */
    record Submit(String kind, String stream) implements Service {
    }

    /** A generated wrapper that marks the calling thread as waiting for the device. */
    record Sync() implements Service {
    }

    /** Written by hand in {@code native-preload/src}. */
    record Hook() implements Service {
    }
}
