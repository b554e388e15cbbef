package io.tessera.software.violation;

import io.tessera.protocol.relay.RecordKind;

/** A device may not know how clients speak. */
public final class SoftwareKnowsTheProtocol {
    /** Uses it. */
    public RecordKind it() {
        return RecordKind.CALL;
    }
}
