package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * The amount that an iteration of a loop adds to the counter of looks, which overflows at 2^32: at least {@link LookWords#STEP}, and more if an
 * iteration may take long. Therefore at most 4,096 accesses to global memory lie between two looks, or 2,048 atomics, or sleeps of 0.1 s. If all
 * 270,000 threads of an H200 make them at once, in pinned host memory (50 GB/s, at 32 bytes an access) or at one address (1.2 atomics in a
 * nanosecond), they take 0.7 s and 0.5 s. The work of functions of other sections is not known: a loop looks once in 64 calls of them. Immutable.
 */
final class RoundCost {
    private static final long ACCESS = 1L << 20;
    private static final long ATOMIC = 2 * ACCESS;
    /** Cost of a copy by a tensor map, of some KiB. */
    private static final long TENSOR = 4 * ACCESS;
    static final long MOST = 1L << 31;
    /** Cost of a call of another section: 64 of them are a full counter. */
    private static final long CALL = 64 * ACCESS;
    /** Cost of a call by a register, as of the driver's {@code vprintf}: a thread waits for 67,000 others that print for some 0.2 s (H200). */
    private static final long CALL_OF_ANY = MOST / 2;
    /** A counted loop with less in a round does without a look, which would be much of it. */
    private static final long MOST_COUNTED = 16 * ACCESS;
    /** Cost of a nanosecond: 0.1 s are a full counter. */
    private static final long NANOSECOND = 43;
    private static final long LONGEST_SLEEP_NS = 1_000_000;
    /** {@code NANOSLEEP} by a register, and the mark of the variant that ends with an mbarrier's phase, which may take up to a 32-bit time. */
    private static final int BY_REGISTER = 0x35d;
    private static final long UNTIL_PHASE = 1L << 20;

    private final SectionFlow flow;
    private final LoopGraph graph;
    private final IntPredicate aside;

    /**
     * Creates the costs of a section.
     *
     * @param aside instructions that do not count
     */
    RoundCost(SectionFlow flow, LoopGraph graph, IntPredicate aside) {
        this.flow = flow;
        this.graph = graph;
        this.aside = aside;
    }

    /** Returns the amount that a look must add in each iteration of a loop, if inner loops add theirs. */
    int step(BitSet loop) {
        return (int) Math.clamp(sum(loop), LookWords.STEP, MOST);
    }

    /** Returns whether a loop that is shown to end looks nevertheless: it sleeps, has an atomic, or has many accesses. */
    boolean isSlow(BitSet loop) {
        return sum(loop) >= MOST_COUNTED || loop.stream().anyMatch(this::isSlow);
    }

    private boolean isSlow(int block) {
        for (int i = graph.start(block); i <= graph.last(block); i++) {
            if (!aside.test(i) && of(i) > ACCESS && flow.operation(i).kind() != Kind.TENSOR) {
                return true;
            }
        }
        return false;
    }

    private long sum(BitSet loop) {
        return loop.stream().mapToLong(this::sum).sum();
    }

    private long sum(int block) {
        long sum = 0;
        for (int i = graph.start(block); i <= graph.last(block); i++) {
            sum += aside.test(i) ? 0 : of(i);
        }
        return sum;
    }

    /**
     * Returns the blocks of a loop, in the order of the code, before which a full counter of work was done since the block before. A loop whose rounds are
     * longer than that looks there, too.
     */
    BitSet full(BitSet loop) {
        BitSet full = new BitSet();
        long sum = 0;
        for (int block = loop.nextSetBit(0); block >= 0; block = loop.nextSetBit(block + 1)) {
            if (sum >= MOST) {
                full.set(block);
                sum = 0;
            }
            sum += sum(block);
        }
        return full;
    }

    private long of(int at) {
        MachineOpcode operation = flow.operation(at);
        return switch (operation.kind()) {
            case GLOBAL, GLOBAL_REGISTER -> switch (operation.name()) {
                case "ATOM", "ATOMG", "REDG" -> ATOMIC;
                default -> ACCESS;
            };
            case TEXTURE -> ACCESS;
            case TENSOR -> TENSOR;
            case CALL_SYMBOL -> CALL;
            case CALL_REGISTER -> CALL_OF_ANY;
            default -> operation.name().equals("NANOSLEEP") ? sleep(at) : 0;
        };
    }

    private long sleep(int at) {
        boolean known = InstructionWord.key(flow.low(at), flow.high(at)) != BY_REGISTER;
        long ns = known ? Integer.toUnsignedLong(InstructionWord.immediate(flow.low(at))) : 1L << Integer.SIZE;
        return NANOSECOND * ((flow.high(at) & UNTIL_PHASE) == 0 ? Math.min(ns, LONGEST_SLEEP_NS) : ns);
    }
}
