package io.tessera.executor.fence;

import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.guardian.fence.FenceMode;

/** The words by which a module of a client knows the client's window. */
interface WindowWords {
    /**
     * Returns the bytes of {@code WindowConstants}.
     *
     * @throws ProgramRefusedException if they are not available
     */
    byte[] of(FenceMode mode) throws ProgramRefusedException;
}
