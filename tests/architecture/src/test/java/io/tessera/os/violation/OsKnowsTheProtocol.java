package io.tessera.os.violation;

import io.tessera.protocol.relay.RecordKind;

/** The operating system may not know its users. */
public final class OsKnowsTheProtocol {
    /** Uses it. */
    public RecordKind it() {
        return RecordKind.CALL;
    }
}
