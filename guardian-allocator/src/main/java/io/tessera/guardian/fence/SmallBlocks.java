package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressFact;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.LaunchShape;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
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
    private static final List<BodyLimits.BlockSize> LINES = List.of(new BodyLimits.BlockSize(512, 0), new BodyLimits.BlockSize(256, 0), new BodyLimits.BlockSize(128, 0),
            new BodyLimits.BlockSize(64, 0), new BodyLimits.BlockSize(32, 0));
    private static final List<BodyLimits.BlockSize> RECTANGLES = List.of(new BodyLimits.BlockSize(32, 32), new BodyLimits.BlockSize(32, 16), new BodyLimits.BlockSize(16, 16),
            new BodyLimits.BlockSize(32, 8), new BodyLimits.BlockSize(64, 4), new BodyLimits.BlockSize(16, 8), new BodyLimits.BlockSize(8, 8));

    /**
     * A module with second bodies.
     *
     * @param module the module
     * @param limits of the kernels that got one, for which launches
     * @param bare   those of them whose second body has hardly a fence of shared memory, and such second entries
     * @param known  facts of kernels that stay as they are, as far as they were looked at, and of second entries
     * @param entries second entries that the module has
     */
    record Specialised(PtxModule module, Map<String, BodyLimits> limits, Set<String> bare, Map<PtxFunction, AddressFacts> known,
            List<CheckedEntry> entries) {
        /** A module that stays as it is. */
        Specialised(PtxModule module) {
            this(module, Map.of(), Set.of(), Map.of(), List.of());
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
            boolean worth = checked && isShort(kernel) && (fenced || !terms.limits().isEmpty());
            CheckedEntries.Written written = worth ? CheckedEntries.write(trials, terms, fenced).orElse(null) : null;
            if (!found.isEmpty()) {
                limits.put(kernel.name(), found);
                if (hasFewFences(trials, trials.of(found))) {
                    bare.add(kernel.name());
                }
            } else if (trials.known() != null) {
                known.put(kernel, trials.known());
            }
            if (written != null) {
                directives.add(written.function());
                known.put(written.function(), written.facts());
                entries.add(written.entry());
                if (hasFewFences(trials, written.facts())) {
                    bare.add(written.function().name());
                }
            }
        }
        return new Specialised(limits.isEmpty() && entries.isEmpty() ? module
                : new PtxModule(module.version(), module.targets(), module.addressBits(), directives), limits, bare, known, entries);
    }

    private static boolean isShort(PtxFunction kernel) {
        return collect(kernel.body().orElseThrow(), new ArrayList<>()) <= MOST_INSTRUCTIONS;
    }

    private static boolean hasFewFences(BodyTrials trials, AddressFacts facts) {
        List<Instruction> accesses = new ArrayList<>();
        collect(trials.kernel().body().orElseThrow(), accesses);
        return fences(trials, accesses, facts) <= FEW_FENCES;
    }

    /** Whether the kernel leaves its block's size open, and can be written for blocks of some size. */
    private static boolean isOpen(PtxFunction kernel) {
        return kernel.attribute("reqntid").isEmpty() && kernel.attribute("maxntid").isEmpty() && TwoBodies.canLimitThreads(kernel);
    }

    /** The largest size that spares at least half of the fences that any spares; null if none spares any. */
    private static BodyLimits.BlockSize best(BodyTrials trials) {
        PtxFunction kernel = trials.kernel();
        List<Instruction> accesses = new ArrayList<>();
        int instructions = collect(kernel.body().orElseThrow(), accesses);
        int all = accesses.isEmpty() || instructions > MOST_INSTRUCTIONS || !isOpen(kernel) ? 0 : fences(trials, accesses, trials.unlimited());
        List<BodyLimits.BlockSize> sizes = TwoBodies.readsY(kernel) ? RECTANGLES : LINES;
        int[] spared = new int[sizes.size()];
        int most = 0;
        for (int i = 0; i < sizes.size() && most < all; i++) {
            BodyLimits.BlockSize size = sizes.get(i);
            LaunchShape shape = new LaunchShape(size.x(), size.y() == 0 ? MOST_THREADS : size.y(), MOST_THREADS, 0);
            spared[i] = all - fences(trials, accesses, trials.of(shape));
            most = Math.max(most, spared[i]);
        }
        for (int i = 0; i < sizes.size() && most > 0; i++) {
            if (2 * spared[i] >= most) {
                return sizes.get(i);
            }
        }
        return null;
    }

    /** Counts instructions and collects those that access shared memory by name of the space. */
    private static int collect(Block block, List<Instruction> accesses) {
        int count = 0;
        for (Statement statement : block.statements()) {
            if (statement instanceof Block inner) {
                count += collect(inner, accesses);
            } else if (statement instanceof Instruction instruction) {
                count++;
                boolean shared = switch (instruction.opcode()) {
                    case "ld", "st", "atom", "red" -> instruction.space().filter(s -> s == StateSpace.SHARED).isPresent();
                    default -> false;
                };
                if (shared) {
                    accesses.add(instruction);
                }
            }
        }
        return count;
    }

    private static int fences(BodyTrials trials, List<Instruction> accesses, AddressFacts facts) {
        Map<String, Long> sizes = sizes(trials.kernel(), trials.module());
        int count = 0;
        for (Instruction access : accesses) {
            for (int operand = 0; operand < access.operands().size(); operand++) {
                if (access.operands().get(operand) instanceof Operand.Address) {
                    count += isInBounds(facts.of(access, operand), sizes, access) ? 0 : 1;
                }
            }
        }
        return count;
    }

    private static boolean isInBounds(AddressFact fact, Map<String, Long> sizes, Instruction access) {
        int bytes = access.type().map(type -> type.bytes() * access.vectorLength()).orElse(1);
        return fact.placement() instanceof Placement.NearSymbol(String symbol, long low, long high) && low >= 0 && high >= low
                && high <= sizes.getOrDefault(symbol, 0L) - bytes;
    }

    private static Map<String, Long> sizes(PtxFunction kernel, PtxModule module) {
        Map<String, Long> sizes = new LinkedHashMap<>();
        module.directives().forEach(each -> note(each, sizes));
        kernel.body().orElseThrow().statements().forEach(each -> note(each, sizes));
        return sizes;
    }

    private static void note(Object declaration, Map<String, Long> sizes) {
        if (declaration instanceof Variable variable && variable.space() == StateSpace.SHARED) {
            sizes.put(variable.name(), variable.sizeBytes());
        }
    }
}
