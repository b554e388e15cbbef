package io.tessera.executor.fence;

import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.guardian.fence.FenceMode;

/** The constants that tell a module where its client's window is. */
interface WindowWords {
    /**
     * Returns the bytes of {@code WindowConstants}.
     *
     * @throws ProgramRefusedException if they are not available
     */
    byte[] of(FenceMode mode) throws ProgramRefusedException;
}
