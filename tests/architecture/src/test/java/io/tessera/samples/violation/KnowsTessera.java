package io.tessera.samples.violation;

import io.tessera.protocol.relay.RecordKind;

/** A sample is an ordinary program. */
public final class KnowsTessera {
    /** Uses it. */
    public RecordKind it() {
        return RecordKind.CALL;
    }
}
