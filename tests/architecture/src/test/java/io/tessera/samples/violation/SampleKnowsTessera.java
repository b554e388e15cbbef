package io.tessera.samples.violation;

import io.tessera.protocol.relay.RecordKind;

/** A sample is an ordinary program. */
public final class SampleKnowsTessera {
    /** Uses it. */
    public RecordKind it() {
        return RecordKind.CALL;
    }
}
