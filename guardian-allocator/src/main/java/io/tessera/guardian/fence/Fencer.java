package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressOracle;
import io.tessera.guardian.fence.proof.SyntacticOracle;
import io.tessera.guardian.ptx.PtxModule;
import java.util.Objects;

/** Fences modules. Immutable; may be used by any number of threads. */
public final class Fencer {
    /** Changes when the same module would be fenced in another way: part of the key of caches. */
    public static final int VERSION = 1;

    private final FenceMode mode;
    private final AddressOracle oracle;

    /** A fencer of that mode, with the proofs of this module. */
    public Fencer(FenceMode mode) {
        this(mode, new SyntacticOracle());
    }

    /**
     * A fencer.
     *
     * @param mode   how
     * @param oracle what is known about addresses
     */
    public Fencer(FenceMode mode, AddressOracle oracle) {
        this.mode = Objects.requireNonNull(mode, "mode");
        this.oracle = Objects.requireNonNull(oracle, "oracle");
    }

    /**
     * The module, fenced.
     *
     * @throws FenceRefusedException if it holds what cannot be fenced
     */
    public FencedModule fence(PtxModule module) throws FenceRefusedException {
        Objects.requireNonNull(oracle.of(module.functions().getFirst(), module), "facts");
        throw new FenceRefusedException("module", 0, "mode " + mode + " is not built yet");
    }
}
