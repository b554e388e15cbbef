package io.tessera.guardian.fence;

import io.tessera.guardian.fence.BodyLimits.Limit;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds limits of the grid and of integer parameters within which a kernel's loops need less: a loop that goes on by the stride of the
 * grid ends by itself where neither the stride nor the number of elements is near the end of the range, and a pointer that goes on by
 * rows stays within a guard band where rows are short and few. Almost all launches are so; {@link TwoBodies} writes a second body
 * for them. Stateless.
 */
final class LaunchLimits {
    /** With the largest block it is the largest step for which a counter of 32 bits with sign has room. */
    private static final long MOST_BLOCKS = 1 << 20;
    /** Widest first. What is no stride is widened last: rows may be long where they are few, and seldom are many. */
    private static final long[] WORDS = {1 << 30, 1 << 24, 1 << 20, 1 << 16, 1 << 13};
    private static final long[] LONGS = {(1L << 32) - 1, 1 << 24, 1 << 20, 1 << 16, 1 << 13};
    /** Blocks in x of a grid with a block, or some, for each row, and the level of the lengths of its rows: 2^16 of 2^16 elements of 8 bytes. */
    private static final long MOST_ROWS = 1 << 16;
    private static final int ROW_LEVEL = 3;
    /** A second body has to spare one in so many instructions of loops. */
    private static final long LEAST_PART = 100;
    /** With more parameters none is limited: each costs some analyses. */
    private static final int MOST_CANDIDATES = 10;

    private final PtxFunction kernel;
    private final BodyTrials trials;
    private final BodyLimits.BlockSize block;
    private Reads reads;

    LaunchLimits(BodyTrials trials, BodyLimits.BlockSize block) {
        this.kernel = trials.kernel();
        this.trials = trials;
        this.block = block;
    }

    private Reads reads() {
        if (reads == null) {
            reads = Reads.of(kernel);
        }
        return reads;
    }

    /** The widest limits that spare what any spare in loops, with that of the block's size. */
    BodyLimits body() {
        return new BodyLimits(block, best());
    }

    /**
     * The limits of a kernel's second entry: those of its second body; and where rows begin at a multiple of the block's number, those within which
     * they stay in a guard band, if that spares something in loops.
     */
    BodyLimits entry(BodyLimits found) {
        return new BodyLimits(found.block(), rows(found.limits()));
    }

    private List<Limit> rows(List<Limit> found) {
        Reads reads = reads();
        List<Candidate> lengths = reads.candidates().stream().filter(each -> reads.rows.contains(each.source())).toList();
        boolean few = !lengths.isEmpty() && lengths.size() <= MOST_CANDIDATES && reads.instructions <= SmallBlocks.MOST_INSTRUCTIONS
                && reads.goesBack;
        LoopCosts now = few ? trials.costs(new BodyLimits(block, found)) : null;
        long worth = few ? Math.max(1, now.all() / LEAST_PART) : 0;
        if (!few || sum(now) < worth) {
            return found;
        }
        List<Limit> chosen = new ArrayList<>(found);
        chosen.removeIf(limit -> reads.rows.contains(limit.source()));
        chosen.add(new Limit(TwoBodies.BLOCK, Integer.SIZE, MOST_ROWS - 1));
        lengths.forEach(each -> chosen.add(each.at(ROW_LEVEL)));
        long least = cost(chosen);
        return sum(now) - least >= worth ? widened(lengths, chosen, least) : found;
    }

    /** What may be limited, and how far. */
    private record Candidate(Operand source, int bits, long[] levels, boolean stride) {
        private Limit at(int level) {
            return new Limit(source, bits, levels[Math.min(level, levels.length - 1)]);
        }
    }

    private List<Limit> best() {
        Reads reads = reads();
        List<Candidate> candidates = reads.candidates();
        boolean few = !candidates.isEmpty() && candidates.size() <= MOST_CANDIDATES;
        if (!few || reads.instructions > SmallBlocks.MOST_INSTRUCTIONS || !reads.goesBack) {
            return List.of();
        }
        LoopCosts now = trials.costs(new BodyLimits(block, List.of()));
        // Where there is a second body anyway, all that is spared is worth it.
        long worth = block == null ? Math.max(1, now.all() / LEAST_PART) : 1;
        if (sum(now) < worth) {
            return List.of();
        }
        List<Limit> widest = candidates.stream().map(each -> each.at(0)).toList();
        long least = cost(widest);
        List<Limit> chosen = widest;
        // A body for blocks of a size spares fences of shared memory, and should serve matrices of every size.
        if (least > 0 && block == null) {
            List<Limit> tightest = candidates.stream().map(each -> each.at(each.levels().length)).toList();
            long cost = cost(tightest);
            chosen = cost < least ? tightest : widest;
            least = Math.min(least, cost);
        }
        return sum(now) - least >= worth ? widened(candidates, chosen, least) : List.of();
    }

    /** Leaves out what is not needed, and widens the rest. */
    private List<Limit> widened(List<Candidate> candidates, List<Limit> chosen, long least) {
        List<Limit> kept = new ArrayList<>(chosen);
        for (Candidate candidate : candidates) {
            int at = 0;
            while (!kept.get(at).source().equals(candidate.source())) {
                at++;
            }
            Limit limit = kept.remove(at);
            if (cost(kept) > least) {
                kept.add(at, limit);
                for (int level = 0; candidate.at(level).most() > limit.most(); level++) {
                    kept.set(at, candidate.at(level));
                    if (cost(kept) <= least) {
                        break;
                    }
                    kept.set(at, limit);
                }
            }
        }
        return kept;
    }

    private long cost(List<Limit> limits) {
        return sum(trials.costs(new BodyLimits(block, limits)));
    }

    private long sum(LoopCosts costs) {
        return costs.added() + (block == null ? 0 : costs.cuts());
    }

    /** What a kernel reads, and whether it may have loops. */
    private static final class Reads {
        private final Map<Operand, Integer> widths = new LinkedHashMap<>();
        private final Set<Operand> mixed = new HashSet<>();
        private final Map<String, Operand> registers = new HashMap<>();
        private final Set<Operand> numbers = new HashSet<>();
        private final Set<Operand> pointers = new HashSet<>();
        private final Set<Operand> strides = new HashSet<>();
        private final Set<String> labels = new HashSet<>();
        private final Set<String> parameters = new HashSet<>();
        private final Set<String> declared = new HashSet<>();
        private boolean goesBack;
        private final Map<String, Operand> origins = new HashMap<>();
        private final Set<Operand> rows = new HashSet<>();
        private int instructions;

        private static Reads of(PtxFunction kernel) {
            Reads reads = new Reads();
            kernel.parameters().forEach(parameter -> reads.parameters.add(parameter.name()));
            reads.collect(kernel.body().orElseThrow());
            reads.parameters.removeAll(reads.declared);
            return reads;
        }

        private void collect(Block block) {
            for (Statement statement : block.statements()) {
                switch (statement) {
                    case Label label -> labels.add(label.name());
                    case Instruction instruction -> take(instruction);
                    // Of a call, say: what it gives back is read as a parameter is.
                    case Variable variable -> declared.add(variable.name());
                    default -> {}
                }
            }
        }

        private void take(Instruction instruction) {
            instructions++;
            row(instruction);
            goesBack |= instruction.opcode().equals("bra")
                    && instruction.operands().getFirst() instanceof Operand.Symbol(String label, long _) && labels.contains(label);
            for (Operand operand : instruction.operands()) {
                Operand used = switch (operand) {
                    case Operand.Register(String name) -> registers.get(name);
                    case Operand.Address(Operand.Register(String name), long _) -> registers.get(name);
                    default -> null;
                };
                if (used != null) {
                    use(instruction, operand, used);
                }
            }
            TwoBodies.source(instruction).ifPresent(source -> read(instruction, source));
        }

        /** Notes what the number of the block is multiplied with: the length of rows. */
        private void row(Instruction instruction) {
            List<Operand> operands = instruction.operands();
            Operand origin = switch (instruction.opcode()) {
                case "mov" -> TwoBodies.isBlock(instruction) ? TwoBodies.BLOCK : null;
                case "ld" -> TwoBodies.source(instruction).filter(this::isParameter).orElse(null);
                case "cvt" -> operands.size() == 2 ? origin(operands.get(1)) : null;
                case "mul", "mad" -> {
                    if (operands.size() > 2) {
                        product(origin(operands.get(1)), origin(operands.get(2)));
                    }
                    yield null;
                }
                default -> null;
            };
            if (origin != null && operands.getFirst() instanceof Operand.Register(String name)) {
                origins.put(name, origin);
            }
        }

        private void product(Operand first, Operand second) {
            if (TwoBodies.BLOCK.equals(first) && second instanceof Operand.Address) {
                rows.add(second);
            } else if (TwoBodies.BLOCK.equals(second) && first instanceof Operand.Address) {
                rows.add(first);
            }
        }

        private Operand origin(Operand operand) {
            return operand instanceof Operand.Register(String name) ? origins.get(name) : null;
        }

        private boolean isParameter(Operand source) {
            return source instanceof Operand.Address(Operand.Named(String name), long _) && parameters.contains(name);
        }

        private void use(Instruction instruction, Operand operand, Operand source) {
            if (operand instanceof Operand.Address) {
                pointers.add(source);
                return;
            }
            switch (instruction.opcode()) {
                case "cvta" -> pointers.add(source);
                case "setp" -> numbers.add(source);
                case "mul", "mad" -> strides.add(source);
                default -> {}
            }
        }

        private void read(Instruction instruction, Operand source) {
            int bits = instruction.type().orElseThrow().bits();
            Integer before = widths.put(source, bits);
            if (before != null && before != bits) {
                mixed.add(source);
            }
            registers.put(((Operand.Register) instruction.operands().getFirst()).name(), source);
        }

        /** The number of blocks in x; integers among the parameters. Of 64 bits, what is compared and not followed. */
        private List<Candidate> candidates() {
            List<Candidate> found = new ArrayList<>();
            widths.forEach((source, bits) -> {
                boolean number = bits == Integer.SIZE || numbers.contains(source) && !pointers.contains(source);
                if (source instanceof Operand.SpecialRegister(String name, String component)) {
                    if (name.equals("%nctaid") && component.equals("x")) {
                        found.add(new Candidate(source, bits, new long[] {MOST_BLOCKS}, false));
                    }
                } else if (number && !mixed.contains(source) && isParameter(source)) {
                    found.add(new Candidate(source, bits, bits == Integer.SIZE ? WORDS : LONGS, strides.contains(source)));
                }
            });
            found.sort(Comparator.comparing(candidate -> !candidate.stride()));
            return found;
        }
    }
}
