package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressOracle;
import io.tessera.guardian.fence.proof.DataFlowOracle;
import io.tessera.guardian.ptx.PtxModule;
import java.util.Objects;

/** Fences modules. Immutable; may be used by any number of threads. */
public final class Fencer {
    /** Changes when the same module would be fenced in another way: part of the key of caches. */
    public static final int VERSION = 3;

    private final FenceMode mode;
    private final AddressOracle oracle;
    private final boolean linked;

    /** A fencer of that mode, with the proofs of this module, for modules that are loaded as they are. */
    public Fencer(FenceMode mode) {
        this(mode, new DataFlowOracle(), false);
    }

    /**
     * A fencer.
     *
     * @param mode   how
     * @param oracle what is known about addresses
     * @param linked whether its modules are linked with each other: then they may call functions and use variables that
     *               others of them define, what they add has names that merge, and a generic address may come from another
     *               module. Whoever links makes sure that nothing but modules of such a fencer, of the same mode, is linked;
     *               and indirect calls reach the functions of their own module alone
     */
    public Fencer(FenceMode mode, AddressOracle oracle, boolean linked) {
        this.mode = Objects.requireNonNull(mode, "mode");
        this.oracle = Objects.requireNonNull(oracle, "oracle");
        this.linked = linked;
    }

    /**
     * The module, fenced. Takes time and memory in proportion to its size.
     *
     * @throws FenceRefusedException if it holds what cannot be fenced
     */
    public FencedModule fence(PtxModule module) throws FenceRefusedException {
        if (module.addressBits() != Long.SIZE) {
            throw new FenceRefusedException(".address_size " + module.addressBits(), 0, "only 64-bit addresses are fenced");
        }
        return new ModuleFencer(new ModulePlan(SharedLayout.aligned(module), mode, oracle, linked)).fence();
    }
}
