package io.tessera.guardian.fence.module;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.PtxVersion;

/** Modules of old versions of PTX: what fences add needs a newer one. */
final class OldText {
    /** Has all that fences use of every target ({@code %dynamic_smem_size} is the latest of it). */
    private static final PtxVersion LEAST = new PtxVersion(4, 1);
    /** Before it, floating-point instructions without modifiers mean others than they do now (PTX ISA, "Legacy .ftz"). */
    private static final PtxVersion FIRST = new PtxVersion(2, 0);

    private OldText() {
    }

    /**
     * The module in a version that fences can be written in. From 2.0 to 4.1 text means the same in the newer version, but for names in
     * initializers, which the parser has resolved.
     *
     * @throws FenceRefusedException if its version is older than 2.0
     */
    static PtxModule raised(PtxModule module) throws FenceRefusedException {
        if (module.version().compareTo(FIRST) < 0) {
            throw new FenceRefusedException(".version " + module.version(), 0, "only PTX ISA 2.0 and later is fenced");
        }
        return module.version().compareTo(LEAST) >= 0 ? module
                : new PtxModule(LEAST, module.targets(), module.addressBits(), module.directives());
    }
}
