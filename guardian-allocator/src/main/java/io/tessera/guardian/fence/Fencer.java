package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressOracle;
import io.tessera.guardian.fence.proof.DataFlowOracle;
import io.tessera.guardian.fence.proof.OriginOracle;
import io.tessera.guardian.ptx.PtxModule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Fences modules. Immutable; may be used by any number of threads. */
public final class Fencer {
    /** Read when it is first asked for: many programs fence nothing. */
    private static final class Version {
        private static final String VALUE = RewriterDigest.ofThisCode();
    }

    private final FenceMode mode;
    private final AddressOracle oracle;
    private final boolean linked;
    private final PlainFunctions plain;
    private final boolean specialising;

    /** Another one whenever the same module might be fenced in another way: part of the key of caches. */
    public static String version() {
        return Version.VALUE;
    }

    /**
     * A fencer of that mode, with the proofs of this module, for modules that are loaded as they are. Kernels get neither second bodies
     * nor second entries: nothing that reads the fenced text by itself could show that they are launched for what they were made.
     */
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
        this(mode, oracle, linked, PlainFunctions.none(), false);
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
     * The same fencer, but for some functions, which it fences without proofs.
     *
     * @param functions which
     */
    public Fencer plainly(PlainFunctions functions) {
        return new Fencer(mode, oracle, linked, functions, specialising);
    }

    /**
     * A fencer that also writes second bodies and second entries. Kernels whose accesses to shared memory need no fence in blocks of a
     * certain size, or whose loops need less in grids and for parameters of a certain size, get a second body for such launches, but in
     * the mode NONE. In all modes but CHECK kernels also get a second entry for launches that somebody looks at: see
     * {@link FencedModule#entries()}.
     */
    static Fencer specialising(FenceMode mode) {
        return new Fencer(mode, new DataFlowOracle(), false, PlainFunctions.none(), true);
    }

    private Fencer(FenceMode mode, AddressOracle oracle, boolean linked, PlainFunctions plain, boolean specialising) {
        this.plain = Objects.requireNonNull(plain, "plain");
        this.specialising = specialising;
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
        PtxModule written = mode == FenceMode.NONE ? current : MemoryBarriers.lowered(current, linked);
        PtxModule laidOut = SharedLayout.aligned(written);
        SmallBlocks.Specialised bodies = specialising ? SmallBlocks.specialise(laidOut, mode != FenceMode.CHECK, mode != FenceMode.NONE)
                : new SmallBlocks.Specialised(laidOut);
        ModulePlan plan = new ModulePlan(bodies, mode, new KnownFacts(bodies.known(), each()), linked, plain);
        if (!plan.escapingParameters().isEmpty() && mode != FenceMode.NONE && !specialising) {
            SmallBlocks.Specialised copied = new SmallBlocks.Specialised(ParameterCopies.made(laidOut, plan.escapingParameters()));
            plan = new ModulePlan(copied, mode, new KnownFacts(copied.known(), each()), linked, plain);
        }
        FencedModule fenced = new ModuleFencer(plan).fence();
        FencedModule noted = bodies.limits().isEmpty() ? fenced : noted(fenced, bodies.limits());
        return written == current ? noted : MemoryBarriers.noted(noted, current);
    }

    /** What is known about the addresses of each function. */
    private AddressOracle each() {
        AddressOracle origin = new OriginOracle();
        return (function, module) -> (plain.contains(function.name()) ? origin : oracle).of(function, module);
    }

    /** Says of kernels with two bodies that they have, since accesses and fences of both are counted. */
    private static FencedModule noted(FencedModule fenced, Map<String, BodyLimits> limits) {
        List<KernelReport> reports = new ArrayList<>();
        for (KernelReport report : fenced.reports()) {
            List<String> notes = new ArrayList<>(report.notes());
            if (limits.containsKey(report.name())) {
                notes.add("counted twice: it has a second body for launches with " + limits.get(report.name()));
            }
            reports.add(new KernelReport(report.name(), report.kernel(), report.line(), report.accesses(), report.fences(),
                    report.proved(), report.calls(), notes));
        }
        return fenced.with(reports);
    }
}
