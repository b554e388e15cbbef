package io.tessera.guardian.fence.module;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.KernelWrites;
import io.tessera.guardian.fence.RewriterDigest;
import io.tessera.guardian.fence.barrier.MemoryBarriers;
import io.tessera.guardian.fence.footprint.KernelFootprints;
import io.tessera.guardian.fence.plan.ModulePlan;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.fence.proof.AddressOracle;
import io.tessera.guardian.fence.proof.oracle.DataFlowOracle;
import io.tessera.guardian.fence.proof.oracle.OriginOracle;
import io.tessera.guardian.fence.variable.CachePolicies;
import io.tessera.guardian.fence.variable.ParameterCopies;
import io.tessera.guardian.fence.variable.SharedLayout;
import io.tessera.guardian.ptx.PtxModule;
import java.util.Map;
import java.util.Objects;

/** Fences modules. Immutable; may be used by any number of threads. */
public final class Fencer {
    /** Read when it is first asked for: many programs fence nothing. */
    private static final class Version {
        private static final String VALUE = RewriterDigest.ofThisCode();
    }

    private final FenceMode mode;
    private final AddressOracle oracle;
    private final boolean linked;
    /** Architecture of the GPU, for example 90; 0 for the target of the module. */
    private final int sm;
    private final PlainFunctions plain;

    /** Another one whenever the same module might be fenced in another way: part of the key of caches. */
    public static String version() {
        return Version.VALUE;
    }

    /** A fencer of that mode, with the proofs of this module, for modules that are loaded as they are. */
    public Fencer(FenceMode mode) {
        this(mode, new DataFlowOracle(), false);
    }

    /**
     * Creates a fencer.
     *
     * @param mode   the fence mode
     * @param oracle source of facts about addresses
     * @param linked whether its modules are linked with each other. Then they may call functions and use variables that others of them define, added
     *               definitions have names that merge, and a generic address may come from another module. The linker's caller ensures that only
     *               modules of such a fencer, with the same mode, are linked, and that indirect calls reach only functions of their own module
     */
    public Fencer(FenceMode mode, AddressOracle oracle, boolean linked) {
        this(mode, oracle, linked, PlainFunctions.none(), 0);
    }

    /**
     * A fencer that proves nothing: every access is fenced where it stands, and every loop looks at the stop word.
     *
     * @param mode   how
     * @param linked as in {@link #Fencer(FenceMode, AddressOracle, boolean)}
     */
    public static Fencer withoutProofs(FenceMode mode, boolean linked) {
        return new Fencer(mode, new OriginOracle(), linked).plainly(PlainFunctions.everything());
    }

    /**
     * Returns this fencer, except that it fences some functions without proofs.
     *
     * @param functions the functions without proofs
     */
    public Fencer plainly(PlainFunctions functions) {
        return new Fencer(mode, oracle, linked, functions, sm);
    }

    /**
     * Returns this fencer for modules that run on one kind of GPU, whatever the target of their text is.
     *
     * @param device architecture, for example 90
     */
    public Fencer on(int device) {
        return new Fencer(mode, oracle, linked, plain, device);
    }

    private Fencer(FenceMode mode, AddressOracle oracle, boolean linked, PlainFunctions plain, int sm) {
        this.sm = sm;
        this.plain = Objects.requireNonNull(plain, "plain");
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
        PtxModule current = OldText.raised(module);
        PtxModule written = mode == FenceMode.NONE ? current : MemoryBarriers.lowered(CachePolicies.known(current), linked);
        PtxModule laidOut = SharedLayout.aligned(written);
        ModulePlan plan = new ModulePlan(laidOut, mode, each(), linked, plain, sm);
        if (!plan.escapingParameters().isEmpty() && mode != FenceMode.NONE) {
            plan = new ModulePlan(ParameterCopies.made(laidOut, plan.escapingParameters()), mode, each(), linked, plain, sm);
        }
        FencedModule fenced = new ModuleFencer(plan, written == current ? Map.of() : MemoryBarriers.rewritten(current)).fence();
        return written(written == current ? fenced : MemoryBarriers.noted(fenced, current), current);
    }

    /** Returns a fenced module with what is known of the accesses that its kernels made before they were fenced. */
    private static FencedModule written(FencedModule fenced, PtxModule module) {
        Map<String, KernelWrites> writes = KernelFootprints.of(module);
        return fenced.with(fenced.reports().stream().map(report -> report.writing(writes.get(report.name()))).toList());
    }

    /** Returns the source of facts about the addresses of each function. */
    private AddressOracle each() {
        AddressOracle origin = new OriginOracle();
        return (function, module) -> (plain.contains(function.name()) ? origin : oracle).of(function, module);
    }
}
