package io.tessera.fuzz.run;

import io.tessera.fuzz.generate.GeneratedKernel;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.module.FenceVerifier;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.program.UnsupportedPtxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Runs one kernel unfenced and fenced in every mode, and reports what is wrong. One owner thread. */
public final class FencingTrial implements AutoCloseable {
    /** Modes that fence. */
    public static final List<FenceMode> MODES = List.of(FenceMode.MASK, FenceMode.MODULO, FenceMode.CHECK);

    private static final long LEGAL_MS = 20_000;
    /** Time until a hostile kernel is told to end. It may be short, because results of hostile kernels are not compared. */
    private static final long HOSTILE_MS = 150;
    private static final long ENDLESS_MS = 30;
    /** Time to end after the order: loops that do not check for it have at most 65,536 rounds, which take seconds on a busy machine. */
    private static final long END_MS = 20_000;
    /** Maximum total time of a kernel, if every step takes its maximum. */
    static final long MOST_SECONDS = (LEGAL_MS + 3 * (LEGAL_MS + END_MS)) / 1000;
    private static final String KERNEL = "k";
    private static final List<String> FUNCTIONS = List.of("f0", "f1", KERNEL);
    private static final int MIXTURE_EVERY = 8;

    private final FuzzDevice device;
    private final Map<FenceMode, Fencer> fencers = new EnumMap<>(FenceMode.class);
    private final int verifyEvery;
    private volatile int launches;
    private volatile int looked;
    private volatile int plain;
    private volatile int unverified;

    /** Receives each fenced text. */
    public interface Written {
        /** Called with the text of a kernel in a mode. */
        void text(GeneratedKernel kernel, FenceMode mode, FencedModule fenced, String text);
    }

    /**
     * Creates a trial with a device of its own.
     *
     * @param compiled    whether kernels are compiled, or interpreted
     * @param verifyEvery the verifier checks the texts of one of this many seeds; 0: of none
     */
    public FencingTrial(boolean compiled, int verifyEvery) {
        this.verifyEvery = verifyEvery;
        device = new FuzzDevice(compiled);
        MODES.forEach(mode -> fencers.put(mode, new Fencer(mode)));
    }

    /** Returns the number of launches so far. */
    public int launches() {
        return launches;
    }

    /** Returns the number of fenced texts that the verifier checked. */
    public int looked() {
        return looked;
    }

    /** Returns the number of these that it accepted only when they were fenced without proofs. */
    public int plain() {
        return plain;
    }

    /** Returns the number of these that it accepted in neither form. */
    public int unverified() {
        return unverified;
    }

    /** Selects functions to fence without proofs, in every eighth seed, as an executor does with those that are not verified. */
    private static PlainFunctions mixture(GeneratedKernel kernel) {
        if (Math.floorMod(kernel.seed(), MIXTURE_EVERY) != 0) {
            return PlainFunctions.none();
        }
        long which = kernel.seed() / MIXTURE_EVERY;
        Set<String> names = new HashSet<>();
        for (int i = 0; i < FUNCTIONS.size(); i++) {
            if ((which >>> i & 1) != 0) {
                names.add(FUNCTIONS.get(i));
            }
        }
        return PlainFunctions.none().with(names);
    }

    /** Verifies as an executor does: first the text with proofs, and if that is refused, the text without. */
    private void verify(PtxModule module, FenceMode mode, String text) throws FenceRefusedException {
        looked++;
        if (!shown(text, mode)) {
            boolean without = shown(Fencer.withoutProofs(mode, false).fence(module).ptx(), mode);
            plain += without ? 1 : 0;
            unverified += without ? 0 : 1;
        }
    }

    private static boolean shown(String text, FenceMode mode) {
        try {
            return FenceVerifier.verify(text.getBytes(StandardCharsets.US_ASCII), Mode.valueOf(mode.name()), false).whole();
        } catch (UnverifiedException e) {
            return false;
        }
    }

    /** Returns all faults of a kernel. */
    public List<KernelFinding> findings(GeneratedKernel kernel, Written written) {
        List<KernelFinding> found = new ArrayList<>();
        byte[] expected = kernel.hostile() ? null : expected(kernel, found);
        if (!kernel.hostile() && expected == null) {
            return found;
        }
        PtxModule module = parsed(kernel, found);
        for (FenceMode mode : module == null ? List.<FenceMode>of() : MODES) {
            try {
                PlainFunctions mixture = mixture(kernel);
                FencedModule fenced = fencers.get(mode).plainly(mixture).fence(module);
                String output = fenced.ptx();
                written.text(kernel, mode, fenced, output);
                if (verifyEvery > 0 && kernel.seed() % verifyEvery == 0) {
                    verify(module, mode, output);
                }
                fenced(kernel, mode, fenced, output, expected, found);
            } catch (FenceRefusedException | PtxException | UnsupportedPtxException e) {
                found.add(new KernelFinding(KernelFinding.Kind.REFUSED, mode.name(), e.getMessage()));
            } catch (RuntimeException | StackOverflowError e) {
                found.add(new KernelFinding(KernelFinding.Kind.CRASH, mode.name(), e + " at " + Arrays.stream(e.getStackTrace()).limit(4).toList()));
            }
        }
        device.forget(kernel.hostile());
        return found;
    }

    /** Returns the parsed text with scopes, read once for all modes; null: it is refused. */
    private static PtxModule parsed(GeneratedKernel kernel, List<KernelFinding> found) {
        try {
            return PtxParser.parse(kernel.scoped());
        } catch (PtxException e) {
            found.add(new KernelFinding(KernelFinding.Kind.REFUSED, "parser", e.getMessage()));
        } catch (RuntimeException | StackOverflowError e) {
            found.add(new KernelFinding(KernelFinding.Kind.CRASH, "parser", e + " at " + Arrays.stream(e.getStackTrace()).limit(4).toList()));
        }
        return null;
    }

    /** Returns what a legal kernel computes unfenced, from its text without scopes. */
    byte[] expected(GeneratedKernel kernel, List<KernelFinding> found) {
        try (LoadedModule module = device.processor.load(kernel.flat())) {
            LoadedKernel loaded = module.kernel(KERNEL);
            device.fill(kernel);
            FuzzDevice.Run run = device.run(loaded, kernel, parameters(loaded, kernel, device.out), LEGAL_MS, 1);
            launches++;
            if (run.fault().isEmpty() && !run.stopped()) {
                return device.results(kernel);
            }
            found.add(new KernelFinding(KernelFinding.Kind.GENERATOR, "unfenced", run.fault().isEmpty() ? "does not end" : run.fault()));
        } catch (PtxException | UnsupportedPtxException e) {
            found.add(new KernelFinding(KernelFinding.Kind.GENERATOR, "unfenced", e.getMessage()));
        } catch (RuntimeException e) {
            found.add(new KernelFinding(KernelFinding.Kind.GENERATOR, "unfenced", e + " at " + Arrays.stream(e.getStackTrace()).limit(4).toList()));
        }
        return null;
    }

    /**
     * Runs a kernel without fences, to prove that fences are needed.
     *
     * @return the fault; empty: none
     */
    public String unfenced(GeneratedKernel kernel) throws PtxException {
        try (LoadedModule module = device.processor.load(kernel.flat())) {
            LoadedKernel loaded = module.kernel(KERNEL);
            device.fill(kernel);
            launches++;
            return device.run(loaded, kernel, parameters(loaded, kernel, -1L), LEGAL_MS, 1).fault();
        } finally {
            device.forget(true);
        }
    }

    /** Returns a kernel fenced in a mode; null: it is refused. */
    FencedModule fenced(GeneratedKernel kernel, FenceMode mode) {
        try {
            FencedModule fenced = fencers.get(mode).plainly(mixture(kernel)).fence(PtxParser.parse(kernel.scoped()));
            return fenced.refused().isEmpty() ? fenced : null;
        } catch (FenceRefusedException | PtxException e) {
            return null;
        }
    }

    private byte[] parameters(LoadedKernel loaded, GeneratedKernel kernel, long foreign) {
        return FuzzDevice.packed(loaded, device.in, device.out, (int) kernel.seed(), foreign, GeneratedKernel.IN_BYTES / Integer.BYTES);
    }

    private void fenced(GeneratedKernel kernel, FenceMode mode, FencedModule fenced, String text, byte[] expected, List<KernelFinding> found)
            throws PtxException, FenceRefusedException {
        if (fenced.refused().containsKey(KERNEL)) {
            throw fenced.refused().get(KERNEL);
        }
        try (LoadedModule module = device.window.load(fenced, text)) {
            LoadedKernel loaded = module.kernel(KERNEL);
            long[] targets = device.window.targets();
            long foreign = kernel.hostile() ? targets[(int) Long.remainderUnsigned(kernel.seed() + mode.ordinal(), targets.length)] : device.out;
            byte[] parameters = parameters(loaded, kernel, foreign);
            launch(kernel, mode, mode.name(), loaded, parameters, expected, found);
        }
    }

    private void launch(GeneratedKernel kernel, FenceMode mode, String where, LoadedKernel loaded, byte[] parameters, byte[] expected,
            List<KernelFinding> found) {
        device.fill(kernel);
        FuzzDevice.Run run = device.run(loaded, kernel, parameters, kernel.endless() ? ENDLESS_MS : kernel.hostile() ? HOSTILE_MS : LEGAL_MS, END_MS);
        launches++;
        String changed = device.window.changed(mode, run.stopped());
        if (!run.fault().isEmpty()) {
            found.add(new KernelFinding(KernelFinding.Kind.ESCAPE, where, run.fault()));
        } else if (!changed.isEmpty()) {
            found.add(new KernelFinding(KernelFinding.Kind.ESCAPE, where, "changed " + changed));
        } else if (run.endless()) {
            found.add(new KernelFinding(KernelFinding.Kind.ENDLESS, where, "did not end within " + END_MS + " ms after it was told to"));
        } else if (expected != null) {
            byte[] results = device.results(kernel);
            int at = Arrays.mismatch(expected, results);
            if (at >= 0) {
                found.add(new KernelFinding(KernelFinding.Kind.DIFFERENCE, where,
                        "from byte " + at + " of " + results.length + (run.stopped() ? ", and had to be ended" : "")));
            }
        }
    }

    @Override
    public void close() {
        device.close();
    }
}
