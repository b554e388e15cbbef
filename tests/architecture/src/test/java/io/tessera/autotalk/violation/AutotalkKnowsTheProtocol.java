package io.tessera.autotalk.violation;

import io.tessera.protocol.relay.RecordKind;

/** The generator may not know the protocol. */
public final class AutotalkKnowsTheProtocol {
    /** Uses it. */
    public RecordKind it() {
        return RecordKind.CALL;
    }
}
