package io.tessera.nvidia.violation;

import io.tessera.protocol.relay.RecordKind;

/** A device may not know how clients speak. */
public final class NvidiaKnowsTheProtocol {
    /** Uses it. */
    public RecordKind it() {
        return RecordKind.CALL;
    }
}
