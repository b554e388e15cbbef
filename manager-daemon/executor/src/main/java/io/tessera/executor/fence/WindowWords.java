package io.tessera.executor.fence;

import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.guardian.fence.FenceMode;

/** What a module of a client has to know of the client's window. */
interface WindowWords {
    /**
     * The bytes of {@code WindowConstants}.
     *
     * @throws ProgramRefusedException if they are not available
     */
    byte[] of(FenceMode mode) throws ProgramRefusedException;
}
