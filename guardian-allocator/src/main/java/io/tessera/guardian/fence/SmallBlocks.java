package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.LaunchShape;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds kernels whose accesses to shared memory are within their variables in blocks of a size that the kernel does not name: an
 * array with an element for each of 256 threads, in a kernel that any block may run. Such a kernel gets a second body for those
 * blocks ({@link TwoBodies}), in which the proofs see the size; {@link LaunchLimits} adds what else launches may be limited by, and
 * {@link CheckedEntries} writes an entry of its own for launches that somebody looks at. Stateless.
 */
final class SmallBlocks {
    /** A kernel of more instructions is left alone: it would be analysed once for each size. */
    static final int MOST_INSTRUCTIONS = 4000;
    private static final int MOST_THREADS = 1024;
    private static final int FEW_FENCES = 2;
    private static final BodyLimits NO_LIMITS = new BodyLimits(null, List.of());

    /** Sizes in x, for kernels that do not look at y, and in x and y; the largest that serves is taken. */
    private static final List<BodyLimits.BlockSize> LINES = List.of(new BodyLimits.BlockSize(512, 0), new BodyLimits.BlockSize(256, 0),
            new BodyLimits.BlockSize(128, 0),
            new BodyLimits.BlockSize(64, 0), new BodyLimits.BlockSize(32, 0));
    private static final List<BodyLimits.BlockSize> RECTANGLES = List.of(new BodyLimits.BlockSize(32, 32), new BodyLimits.BlockSize(32, 16),
            new BodyLimits.BlockSize(16, 16),
            new BodyLimits.BlockSize(32, 8), new BodyLimits.BlockSize(64, 4), new BodyLimits.BlockSize(16, 8), new BodyLimits.BlockSize(8, 8));

    /**
     * A module with second bodies.
     *
     * @param module the module
     * @param limits of the kernels that got one, for which launches
     * @param bare   those of them whose second body has hardly a fence of shared memory, and such second entries
     * @param known  facts of kernels that stay as they are, as far as they were looked at, and of second entries
     * @param entries second entries that the module has
     * @param loops  of bodies that are in the module, as far as they were looked at
     */
    record Specialised(PtxModule module, Map<String, BodyLimits> limits, Set<String> bare, Map<PtxFunction, AddressFacts> known,
            List<CheckedEntry> entries, Map<Block, LoopText> loops) {
        /** A module that stays as it is. */
        Specialised(PtxModule module) {
            this(module, Map.of(), Set.of(), Map.of(), List.of(), Map.of());
        }
    }

    private SmallBlocks() {
    }

    /**
     * The module, with second bodies where they spare fences, and second entries for launches that somebody looks at.
     *
     * @param checked whether kernels get second entries
     * @param fenced  whether accesses are fenced; if not, no second body is worth its place, and only what spares something in loops is one of
     *                the terms of a second entry
     */
    static Specialised specialise(PtxModule module, boolean checked, boolean fenced) {
        Map<String, BodyLimits> limits = new LinkedHashMap<>();
        Set<String> bare = new HashSet<>();
        Map<PtxFunction, AddressFacts> known = new IdentityHashMap<>();
        List<CheckedEntry> entries = new ArrayList<>();
        Map<Block, LoopText> loops = new IdentityHashMap<>();
        List<Directive> directives = new ArrayList<>(module.directives().size());
        for (Directive directive : module.directives()) {
            if (!(directive instanceof PtxFunction kernel) || kernel.kind() != PtxFunction.Kind.ENTRY || kernel.body().isEmpty()) {
                directives.add(directive);
                continue;
            }
            BodyTrials trials = new BodyTrials(kernel, module);
            LaunchLimits search = TwoBodies.canWrite(kernel) ? new LaunchLimits(trials, best(trials)) : null;
            BodyLimits best = search == null ? NO_LIMITS : search.body();
            BodyLimits found = fenced ? best : NO_LIMITS;
            directives.add(found.isEmpty() ? kernel : TwoBodies.write(kernel, found));
            BodyLimits terms = search == null || !fenced ? best : search.entry(best);
            boolean worth = checked && trials.shared().instructions() <= MOST_INSTRUCTIONS && (fenced || !terms.limits().isEmpty());
            CheckedEntries.Written written = worth ? CheckedEntries.write(trials, terms, fenced).orElse(null) : null;
            if (!found.isEmpty()) {
                limits.put(kernel.name(), found);
                if (trials.shared().isEmpty() || trials.shared().fences(trials.of(found)) <= FEW_FENCES) {
                    bare.add(kernel.name());
                }
            } else if (trials.known() != null) {
                known.put(kernel, trials.known());
            }
            loops.put(kernel.body().get(), trials.text());
            if (written != null) {
                directives.add(written.function());
                known.put(written.function(), written.facts());
                entries.add(written.entry());
                if (trials.shared().fences(written.facts()) <= FEW_FENCES) {
                    bare.add(written.function().name());
                }
            }
        }
        return new Specialised(limits.isEmpty() && entries.isEmpty() ? module
                : new PtxModule(module.version(), module.targets(), module.addressBits(), directives), limits, bare, known, entries, loops);
    }

    /** Whether the kernel leaves its block's size open, and can be written for blocks of some size. */
    private static boolean isOpen(PtxFunction kernel) {
        return kernel.attribute("reqntid").isEmpty() && kernel.attribute("maxntid").isEmpty() && TwoBodies.canLimitThreads(kernel);
    }

    /**
     * The largest size that spares at least half of the fences that any spares; null if none spares any. Where half as long a line spares all, the
     * array has an element for each of its threads, and longer ones would leave it.
     */
    private static BodyLimits.BlockSize best(BodyTrials trials) {
        PtxFunction kernel = trials.kernel();
        SharedAccesses accesses = trials.shared();
        boolean none = accesses.isEmpty() || accesses.instructions() > MOST_INSTRUCTIONS || !isOpen(kernel);
        int all = none ? 0 : accesses.fences(trials.unlimited());
        if (all == 0) {
            return null;
        }
        List<BodyLimits.BlockSize> sizes = TwoBodies.readsY(kernel) ? RECTANGLES : LINES;
        int[] spared = new int[sizes.size()];
        int most = 0;
        for (int i = 0; i < sizes.size() && most < all; i++) {
            BodyLimits.BlockSize size = sizes.get(i);
            LaunchShape shape = new LaunchShape(size.x(), size.y() == 0 ? MOST_THREADS : size.y(), MOST_THREADS, 0);
            spared[i] = all - accesses.fences(trials.of(shape));
            most = Math.max(most, spared[i]);
        }
        for (int i = 0; i < sizes.size() && most > 0; i++) {
            if (2 * spared[i] >= most) {
                boolean halfSparesAll = sizes == LINES && i + 1 < sizes.size() && spared[i] < all && spared[i + 1] == all;
                return sizes.get(halfSparesAll ? i + 1 : i);
            }
        }
        return null;
    }
}
