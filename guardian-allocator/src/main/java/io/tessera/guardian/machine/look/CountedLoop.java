package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.ResultTiming;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * Shows that a loop ends after at most 2^32 iterations. The conditions are:
 *
 * <ol>
 * <li>One block has a branch out of the loop, and one (the same or another) has {@code R = R + c} with a constant c that is not 0, without a
 * predicate. Without either block no loop remains: each iteration executes both once, and there is no inner loop.
 * <li>Nothing else in the loop writes R. The branch depends on a comparison in its block, of R with an immediate, a constant, or a register that
 * nothing in the loop writes.
 * <li>Let 2^t be the greatest power of two that divides c. From iteration to iteration, R takes, modulo 2^32, every number of one residue class
 * modulo 2^t. Numbers that leave the loop are an interval. If the interval has at least 2^t numbers, one of them is in that class, and R reaches it
 * within 2^(32-t) iterations, whatever its start and whether or not it overflows.
 * </ol>
 *
 * The interval of {@code R == bound} has one number, and that of {@code R != bound} all but one. For {@code R >= bound} or {@code R <= bound} it has
 * at least one number whatever the bound is; for {@code R > bound} or {@code R < bound} it may have none, and only an immediate determines how many.
 * Therefore a step of 4 up to a bound in a register is not accepted: R may step over it forever. Results in flight from before the loop may change R
 * or the bound a finite number of times. For uniform registers, the threads of a warp are assumed to go through the loop together, as in compiled
 * code. Stateless but for its section.
 */
final class CountedLoop {
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    /** Bits of a comparison that may be anything: the predicate that is written, the relation, and whether numbers are signed; bit 91 is part of the key. */
    private static final long FREE_IN_COMPARISON = 7L << 17 | 7L << 12 | 1L << 9 | 1L << 27;
    private static final long COMPARISON = 0x03f00070L;
    private static final long SIGNED = 1L << 9;
    /** The second word of a branch by a predicate, and by a uniform one, without the distance. */
    private static final long BRANCH = 0x03800000L;
    private static final long UNIFORM_BRANCH = 0x0b800000L;
    private static final long DISTANCE = 0x3ffff;
    private static final long ALL_NUMBERS = 1L << 32;
    private static final int SEVERAL = -2;
    private static final int MATRIX_REGISTERS = 128;

    private final SectionFlow flow;
    private final LoopGraph graph;
    /** Instructions that only threads execute which end at once. */
    private final IntPredicate ending;

    CountedLoop(SectionFlow flow, LoopGraph graph, IntPredicate ending) {
        this.flow = flow;
        this.graph = graph;
        this.ending = ending;
    }

    /** A register that may count; of general and of uniform registers. */
    private record Counter(int register, boolean uniform) {
    }

    /** Relation of two numbers, in the numbering of comparisons. */
    private enum Relation {
        NEVER, LESS, EQUAL, AT_MOST, GREATER, DIFFERENT, AT_LEAST, ALWAYS;

        private Relation not() {
            return values()[7 - ordinal()];
        }

        /** Returns the relation with its operands exchanged. */
        private Relation exchanged() {
            return switch (this) {
                case LESS -> GREATER;
                case GREATER -> LESS;
                case AT_MOST -> AT_LEAST;
                case AT_LEAST -> AT_MOST;
                default -> this;
            };
        }

        /** Returns how many numbers, at least, have this relation to a bound, which is null if it is not known. */
        private long numbers(Integer bound, boolean signed) {
            long below = bound == null ? 0 : signed ? (long) bound - Integer.MIN_VALUE : Integer.toUnsignedLong(bound);
            long above = bound == null ? 0 : ALL_NUMBERS - 1 - below;
            return switch (this) {
                case NEVER -> 0;
                case LESS -> below;
                case GREATER -> above;
                case EQUAL -> 1;
                case AT_MOST -> below + 1;
                case AT_LEAST -> above + 1;
                case DIFFERENT -> ALL_NUMBERS - 1;
                case ALWAYS -> ALL_NUMBERS;
            };
        }
    }

    /** Returns whether a strongly connected part of the code is such a loop. */
    boolean isCounted(BitSet loop) throws MachineCodeException {
        for (int block = loop.nextSetBit(0); block >= 0; block = loop.nextSetBit(block + 1)) {
            int branch = graph.last(block);
            if (flow.operation(branch).kind() == Kind.BRANCH && leavesOnce(loop, branch) && isOnEachRound(loop, block) && ends(loop, block, branch)) {
                return true;
            }
        }
        return false;
    }

    private boolean leavesOnce(BitSet loop, int branch) {
        int behind = flow.following(branch);
        return behind != SectionFlow.NONE && loop.get(graph.block(behind)) != loop.get(graph.block(flow.target(branch)));
    }

    private boolean isOnEachRound(BitSet loop, int block) throws MachineCodeException {
        BitSet rest = (BitSet) loop.clone();
        rest.clear(block);
        return graph.cycles(rest).isEmpty();
    }

    private boolean ends(BitSet loop, int block, int branch) throws MachineCodeException {
        long low = flow.low(branch);
        long high = flow.high(branch) & WITHOUT_CONTROL & ~DISTANCE;
        int key = InstructionWord.key(low, flow.high(branch));
        boolean uniform = key == 0x1547;
        int predicate = uniform ? (int) (low >>> 24) & 0xf : InstructionWord.predicate(low);
        boolean plain = uniform ? high == UNIFORM_BRANCH && InstructionWord.predicate(low) == InstructionWord.ALWAYS && (low >>> 32 & 3) == 1
                : key == 0x947 && high == BRANCH && (low >>> 32 & 3) == 0;
        if (!plain || (predicate & 7) == InstructionWord.ALWAYS) {
            return false;
        }
        int comparison = comparison(graph.start(block), branch, predicate & 7, uniform);
        boolean taken = !loop.get(graph.block(flow.target(branch)));
        return comparison >= 0 && ends(loop, comparison, uniform, taken == (predicate < 8));
    }

    /** The comparison that writes a predicate last before a branch; -1: it is another instruction, or in another block. */
    private int comparison(int first, int branch, int predicate, boolean uniform) {
        for (int i = branch - 1; i >= first; i--) {
            long high = flow.high(i);
            String name = flow.operation(i).name();
            boolean named = (high >>> 17 & 7) == predicate || (high >>> 20 & 7) == predicate;
            if (name.equals(uniform ? "UISETP" : "ISETP") && (high >>> 17 & 7) == predicate
                    && (high & WITHOUT_CONTROL & ~FREE_IN_COMPARISON) == COMPARISON
                    && InstructionWord.predicate(flow.low(i)) == InstructionWord.ALWAYS) {
                return i;
            }
            boolean result = (ResultTiming.predicates(flow.low(i), high) >>> predicate & 1) != 0; // FMNMX.IS_A has it in another place
            if (uniform ? named && PredicateFields.ofUniform(flow.operation(i))
                    : named && PredicateFields.of(flow.operation(i)) || result || "R2P".equals(name)) {
                return -1;
            }
        }
        return -1;
    }

    /** Returns whether the numbers of a counter lead to a comparison that leaves the loop. */
    private boolean ends(BitSet loop, int comparison, boolean uniform, boolean leavesIfTrue) throws MachineCodeException {
        long low = flow.low(comparison);
        long high = flow.high(comparison);
        Relation written = Relation.values()[(int) (high >>> 12) & 7];
        Relation relation = leavesIfTrue ? written : written.not();
        boolean signed = (high & SIGNED) != 0;
        int form = InstructionWord.key(low, high) & 0x1e00;
        Counter first = new Counter(uniform ? (int) (low >>> 24) & 0x3f : InstructionWord.source(low), uniform);
        Counter second = switch (form) {
            case 0x200 -> new Counter((int) (low >>> 32) & 0xff, false);
            case 0x1200, 0x1c00 -> new Counter((int) (low >>> 32) & 0x3f, true);
            default -> null;
        };
        boolean immediate = form == 0x800 || form == 0x1800;
        if (second == null && !immediate && form != 0x600 && form != 0xa00) {
            return false;
        }
        Integer bound = immediate ? Integer.valueOf(InstructionWord.immediate(low)) : second != null && isZero(second) ? Integer.valueOf(0) : null;
        boolean counts = (second == null || isZero(second) || !isWritten(loop, second)) && comesTo(loop, first, relation.numbers(bound, signed));
        Integer other = isZero(first) ? Integer.valueOf(0) : null;
        return counts || second != null && (isZero(first) || !isWritten(loop, first))
                && comesTo(loop, second, relation.exchanged().numbers(other, signed));
    }

    private static boolean isZero(Counter register) {
        return register.register == (register.uniform ? InstructionWord.ZERO_UNIFORM : InstructionWord.ZERO_REGISTER);
    }

    private boolean isWritten(BitSet loop, Counter register) {
        return writer(loop, register) != SectionFlow.NONE;
    }

    /** The instruction of a loop that writes a register; {@link SectionFlow#NONE}: none; {@link #SEVERAL}. */
    private int writer(BitSet loop, Counter register) {
        int writer = SectionFlow.NONE;
        for (int block = loop.nextSetBit(0); block >= 0; block = loop.nextSetBit(block + 1)) {
            for (int i = graph.start(block); i <= graph.last(block); i++) {
                MachineOpcode operation = flow.operation(i);
                Kind kind = operation.kind();
                boolean leaves = kind == Kind.CALL || kind == Kind.CALL_SYMBOL || kind == Kind.CALL_REGISTER;
                boolean writes = register.uniform ? leaves || operation.writesUniform(flow.low(i), register.register)
                        : writes(operation, flow.low(i), register.register) && !ending.test(i);
                if (writes) {
                    writer = writer == SectionFlow.NONE ? i : SEVERAL;
                }
            }
        }
        return writer;
    }

    /** Products of matrices have 64 x 256 results at most, in 128 threads. */
    private static boolean writes(MachineOpcode operation, long low, int register) {
        int first = InstructionWord.destination(low);
        return operation.kind() == Kind.MATRIX ? register >= first && register < first + MATRIX_REGISTERS : operation.writes(low, register);
    }

    /** Returns whether a register counts by steps that reach an interval of this many numbers. */
    private boolean comesTo(BitSet loop, Counter register, long numbers) throws MachineCodeException {
        int writer = writer(loop, register);
        if (isZero(register) || writer < 0) {
            return false;
        }
        int step = step(writer, register);
        return step != 0 && numbers >= Integer.toUnsignedLong(Integer.lowestOneBit(step)) && isOnEachRound(loop, graph.block(writer));
    }

    /** Returns the number that an instruction adds to a register; 0 if it does something else. */
    private int step(int at, Counter register) {
        long low = flow.low(at);
        long high = flow.high(at) & WITHOUT_CONTROL;
        boolean same = InstructionWord.predicate(low) == InstructionWord.ALWAYS && (register.uniform
                ? InstructionWord.uniformDestination(low) == register.register && (low >>> 24 & 0xff) == register.register
                : InstructionWord.destination(low) == register.register && InstructionWord.source(low) == register.register);
        long withoutCarry = high | 0x3fL << 17;
        boolean sum = switch (InstructionWord.key(low, high)) {
            case 0x810 -> !register.uniform && withoutCarry == 0x07ffe0ffL;
            case 0x836 -> !register.uniform && high == 0;
            case 0x1890 -> register.uniform && withoutCarry == 0x0fffe03fL;
            default -> false;
        };
        return same && sum ? InstructionWord.immediate(low) : 0;
    }
}
