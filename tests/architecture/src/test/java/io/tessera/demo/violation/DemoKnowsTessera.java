package io.tessera.demo.violation;

import io.tessera.protocol.relay.RecordKind;

/** A program of the demo is an ordinary one. */
public final class DemoKnowsTessera {
    /** Uses it. */
    public RecordKind it() {
        return RecordKind.CALL;
    }
}
