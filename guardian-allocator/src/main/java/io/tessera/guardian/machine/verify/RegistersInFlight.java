package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.Arrays;

/**
 * Which registers instructions that were issued may still write or read, at a place of the code. Only the registers of a {@link Tracked} set are told apart; all others are
 * one. Scoreboards are a warp's, but a thread that waits for one also waits for what it issued itself, so that the ways of one thread are enough. One owner thread.
 */
final class RegistersInFlight {
    private static final int SCOREBOARDS = 6;
    private static final int NONE = 7;
    /** Sets of writes: one for each scoreboard, one for those that have none, and two for groups of matrices. */
    private static final int NEVER = SCOREBOARDS;
    private static final int OPEN_GROUP = NEVER + 1;
    private static final int CLOSED_GROUP = OPEN_GROUP + 1;
    private static final int SETS = CLOSED_GROUP + 1;
    /** For each set of scoreboards that is waited for: the sets that have one of them. */
    private static final long[] MET = new long[1 << SCOREBOARDS];

    static {
        for (int waits = 0; waits < MET.length; waits++) {
            for (int set = 0; set < MET.length; set++) {
                MET[waits] |= (waits & set) != 0 ? 1L << set : 0;
            }
        }
    }

    private static final int READS = ResultTiming.values().length;
    /** Cycles from the issue of arithmetic to its result at least: what was issued before and ends by then, ends before. */
    private static final int LEAST_LATENCY = 4;
    private static final int PREDICATES = 7;
    /** {@code WARPGROUP.DEPBAR.LE gsb0, 0x0}. */
    private static final long GROUP_WAIT = 0x00008000_000079c5L;
    private static final long GROUP_WAIT_HIGH = 0x10000;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    private static final int GROUP_REGISTERS = 128;
    private final Tracked tracked;
    private final int words;
    /** By set, and in each by register: what may still be written. */
    private final long[] writes;
    /** By set: predicates. */
    private final int[] predicates = new int[SETS];
    /** Bits of sets that are not empty. */
    private int open;
    /** When registers, and behind them predicates, are written by instructions of a fixed latency; on the clock of this block. */
    private final int[] ready;
    private int clock;
    private int latest;
    /**
     * For each unit that works in order, by register and predicate: what it may still write; and behind them what accesses may still read for their address. Each bit is a set
     * of scoreboards by number: one of them has to be waited for, for each bit. Bit 0 is the empty set, so that nothing helps. Null where there is nothing.
     */
    private final long[][] ordered = new long[READS + 1][];

    RegistersInFlight(Tracked tracked) {
        this.tracked = tracked;
        this.words = (tracked.count() + Long.SIZE - 1) / Long.SIZE;
        this.writes = new long[SETS * words];
        this.ready = new int[tracked.count() + PREDICATES];
    }

    /** The registers that are told apart, by numbers; number 0 stands for all others. Immutable once all are added. One owner thread before. */
    static final class Tracked {
        private final int[] numbers = new int[InstructionWord.ZERO_REGISTER + 1];
        private int count = 1;

        void add(int register) {
            if (register < InstructionWord.ZERO_REGISTER && numbers[register] == 0) {
                numbers[register] = count++;
            }
        }

        int count() {
            return count;
        }

        /** Whether any register is told apart. */
        boolean isEmpty() {
            return count == 1;
        }
    }

    /** Scoreboards that an instruction waits for are over. */
    void await(long low, long high) {
        int waits = InstructionWord.waits(high);
        if (waits != 0 && (open & waits) != 0) {
            for (int b = 0; b < SCOREBOARDS; b++) {
                if ((waits & open & 1 << b) != 0) {
                    clear(b);
                }
            }
        }
        for (int unit = 0; waits != 0 && unit < ordered.length; unit++) {
            if (ordered[unit] != null) {
                ordered[unit] = without(ordered[unit], waits);
            }
        }
        if (low == GROUP_WAIT && (high & WITHOUT_CONTROL) == GROUP_WAIT_HIGH && (open >>> CLOSED_GROUP & 1) != 0) {
            clear(CLOSED_GROUP);
        }
    }

    private static long[] without(long[] pending, int waits) {
        long any = 0;
        for (int i = 0; i < pending.length; i++) {
            pending[i] &= ~MET[waits];
            any |= pending[i];
        }
        return any != 0 ? pending : null;
    }

    private void clear(int set) {
        Arrays.fill(writes, set * words, (set + 1) * words, 0);
        predicates[set] = 0;
        open &= ~(1 << set);
    }

    /** An instruction was issued whose waits are over: what it writes is in flight. */
    void issue(long low, long high, MachineOpcode operation, ResultTiming timing) {
        int board = scoreboard(low, high, operation);
        int first = operation.kind() == Kind.TEXTURE ? 0 : InstructionWord.destination(low);
        int count = count(low, high, operation, timing);
        int written = ResultTiming.predicates(low, high);
        if (timing.isFixed()) {
            int cycles = timing.cycles();
            for (int r = first; r < Math.min(first + count, InstructionWord.ZERO_REGISTER); r++) {
                readyAt(tracked.numbers[r], cycles);
            }
            for (int left = written; left != 0; left &= left - 1) {
                readyAt(tracked.count() + Integer.numberOfTrailingZeros(left), ResultTiming.PREDICATE_CYCLES);
            }
        }
        if (timing.isInOrder()) {
            inOrder(timing.ordinal(), first, count, written, board < SCOREBOARDS ? 1 << board : 0);
        } else if (!timing.isFixed() || board < SCOREBOARDS) {
            int set = board < SCOREBOARDS ? board : set(timing, high);
            for (int r = first; r < Math.min(first + count, InstructionWord.ZERO_REGISTER); r++) {
                writes[set * words + (tracked.numbers[r] >>> 6)] |= 1L << tracked.numbers[r];
                open |= 1 << set;
            }
            predicates[set] |= written;
            open |= written != 0 ? 1 << set : 0;
        }
        if (timing == ResultTiming.GROUP && closesGroup(high)) {
            move(OPEN_GROUP, CLOSED_GROUP);
        }
        clock += InstructionWord.cycles(high);
    }

    /**
     * The scoreboard by which the result of an instruction is there. A generic atomic that returns no value still says in a predicate whether it reached global memory;
     * ptxas waits for that predicate by the scoreboard for its sources.
     */
    private static int scoreboard(long low, long high, MachineOpcode operation) {
        boolean bySources = "ATOM".equals(operation.name()) && InstructionWord.destination(low) == InstructionWord.ZERO_REGISTER
                && InstructionWord.writeScoreboard(high) == NONE;
        return bySources ? InstructionWord.readScoreboard(high) : InstructionWord.writeScoreboard(high);
    }

    /** A scoreboard of a unit that works in order also says that what it was given before is over. */
    private void inOrder(int unit, int first, int count, int written, int boards) {
        long[] pending = ordered[unit];
        for (int i = 0; boards != 0 && pending != null && i < pending.length; i++) {
            pending[i] = pending[i] == 0 ? 0 : alsoBy(pending[i], boards);
        }
        for (int r = first; r < Math.min(first + count, InstructionWord.ZERO_REGISTER); r++) {
            pend(unit, tracked.numbers[r], boards);
        }
        for (int left = written; left != 0; left &= left - 1) {
            pend(unit, tracked.count() + Integer.numberOfTrailingZeros(left), boards);
        }
    }

    private static long alsoBy(long sets, int boards) {
        long all = 0;
        for (long left = sets; left != 0; left &= left - 1) {
            all |= 1L << (Long.numberOfTrailingZeros(left) | boards);
        }
        return all;
    }

    private void pend(int unit, int number, int boards) {
        if (ordered[unit] == null) {
            ordered[unit] = new long[tracked.count() + PREDICATES];
        }
        // What was pending before in this unit is over when this is; but number 0 stands for many registers.
        ordered[unit][number] = (number == 0 ? ordered[unit][0] : 0) | 1L << boards;
    }

    /** How many general registers an instruction writes. Of a call or a place where threads gather, the instructions there are looked at themselves. */
    static int count(long low, long high, MachineOpcode operation, ResultTiming timing) {
        if (timing == ResultTiming.GROUP) {
            return GROUP_REGISTERS;
        }
        if (operation.registers() == MachineOpcode.MANY) {
            return operation.kind() == Kind.TEXTURE ? InstructionWord.ZERO_REGISTER : 0;
        }
        return Math.min(operation.registers(), ResultTiming.width(low, high));
    }

    private static int set(ResultTiming timing, long high) {
        return timing != ResultTiming.GROUP ? NEVER : closesGroup(high) ? CLOSED_GROUP : OPEN_GROUP;
    }

    /** Whether a product by descriptors ends its group, {@code gsb0}: bits 84 to 86 are 0. */
    private static boolean closesGroup(long high) {
        return (high >>> 20 & 7) == 0;
    }

    private void move(int from, int to) {
        if ((open >>> from & 1) != 0) {
            for (int w = 0; w < words; w++) {
                writes[to * words + w] |= writes[from * words + w];
            }
            predicates[to] |= predicates[from];
            open |= 1 << to;
            clear(from);
        }
    }

    private void readyAt(int number, int cycles) {
        ready[number] = Math.max(ready[number], clock + cycles);
        latest = Math.max(latest, clock + cycles);
    }

    /**
     * An access was issued. Accesses read their registers in the order in which they were issued, so that a scoreboard of this one also says that those before have read theirs.
     *
     * @param register that its address depends on, to be told apart; 0: none
     */
    void access(int register, long high) {
        int boards = (1 << InstructionWord.readScoreboard(high) | 1 << InstructionWord.writeScoreboard(high)) & (1 << SCOREBOARDS) - 1;
        inOrder(READS, 0, 0, 0, boards);
        if (tracked.numbers[register] != 0) {
            pend(READS, tracked.numbers[register], boards);
        }
    }

    /** Whether an access may still read one of some registers for its address. */
    boolean isRead(int first, int count) {
        for (int r = first; ordered[READS] != null && r < Math.min(first + count, InstructionWord.ZERO_REGISTER); r++) {
            if (ordered[READS][tracked.numbers[r]] != 0) {
                return true;
            }
        }
        return false;
    }

    private boolean isPending(int number) {
        for (int unit = 0; unit < READS; unit++) {
            if (ordered[unit] != null && ordered[unit][number] != 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether something that was issued before may write a register after an instruction that is issued now does. */
    boolean isWritten(int register) {
        int number = tracked.numbers[register];
        for (int left = open; left != 0; left &= left - 1) {
            int set = Integer.numberOfTrailingZeros(left);
            if ((writes[set * words + (number >>> 6)] >>> number & 1) != 0) {
                return true;
            }
        }
        return ready[number] > clock + LEAST_LATENCY || isPending(number);
    }

    /** Scoreboards by which nothing is in flight, as far as scoreboards can tell. */
    int scoreboards() {
        int boards = open & (1 << SCOREBOARDS) - 1;
        for (int unit = 0; unit < READS; unit++) {
            for (int i = 0; ordered[unit] != null && i < ordered[unit].length; i++) {
                boards |= oneOfEach(ordered[unit][i]);
            }
        }
        return boards;
    }

    private static int oneOfEach(long sets) {
        int boards = 0;
        for (long left = sets; left != 0; left &= left - 1) {
            boards |= Integer.lowestOneBit(Long.numberOfTrailingZeros(left));
        }
        return boards;
    }

    /** Whether a unit that works in order may still write a register, and no scoreboard says when that is over. */
    boolean isWrittenWithoutScoreboard(int register, ResultTiming unit) {
        return unit.isInOrder() && ordered[unit.ordinal()] != null && (ordered[unit.ordinal()][tracked.numbers[register]] & 1) != 0;
    }

    /** The scoreboards by which a register, and a predicate as {@link #isPredicateWritten} has it, are no longer in flight, as far as scoreboards can tell. */
    int scoreboards(int register, int predicate) {
        int number = tracked.numbers[register];
        int p = predicate & 7;
        int boards = 0;
        for (int b = 0; b < SCOREBOARDS; b++) {
            boolean pending = (writes[b * words + (number >>> 6)] >>> number & 1) != 0 || p < PREDICATES && (predicates[b] >>> p & 1) != 0;
            boards |= pending ? 1 << b : 0;
        }
        for (int unit = 0; unit < READS; unit++) {
            if (ordered[unit] != null) {
                boards |= oneOfEach(ordered[unit][number]) | (p < PREDICATES ? oneOfEach(ordered[unit][tracked.count() + p]) : 0);
            }
        }
        return boards;
    }

    /** Whether a predicate, 0 to 7 and negated with 8, may still change. */
    boolean isPredicateWritten(int predicate) {
        int p = predicate & 7;
        if (p == PREDICATES) {
            return false;
        }
        for (int left = open; left != 0; left &= left - 1) {
            if ((predicates[Integer.numberOfTrailingZeros(left)] >>> p & 1) != 0) {
                return true;
            }
        }
        return ready[tracked.count() + p] > clock || isPending(tracked.count() + p);
    }

    /** Whether no result is in flight but what a call or return takes longer than. */
    boolean isQuiet() {
        for (int unit = 0; unit < READS; unit++) {
            if (ordered[unit] != null) {
                return false;
            }
        }
        return open == 0 && latest <= clock + ResultTiming.MEDIUM_CYCLES;
    }

    /** Whether an access may still read its address. */
    boolean isReading() {
        return ordered[READS] != null;
    }

    /** Takes what is in flight at the start of a block; the clock begins there. */
    void set(RegistersInFlight other) {
        System.arraycopy(other.writes, 0, writes, 0, writes.length);
        System.arraycopy(other.predicates, 0, predicates, 0, SETS);
        open = other.open;
        System.arraycopy(other.ready, 0, ready, 0, ready.length);
        clock = other.clock;
        latest = other.latest;
        for (int unit = 0; unit < ordered.length; unit++) {
            ordered[unit] = other.ordered[unit] == null ? null : other.ordered[unit].clone();
        }
    }

    /** Adds what is in flight on another way to this place. Returns whether that is more. */
    boolean join(RegistersInFlight other) {
        boolean more = (other.open & ~open) != 0;
        for (int left = other.open; left != 0; left &= left - 1) {
            int set = Integer.numberOfTrailingZeros(left);
            for (int w = set * words; w < (set + 1) * words; w++) {
                more |= (other.writes[w] & ~writes[w]) != 0;
                writes[w] |= other.writes[w];
            }
            more |= (other.predicates[set] & ~predicates[set]) != 0;
            predicates[set] |= other.predicates[set];
        }
        open |= other.open;
        for (int unit = 0; unit < ordered.length; unit++) {
            more |= other.ordered[unit] != null && joinOrdered(unit, other.ordered[unit]);
        }
        if (other.latest > other.clock) {
            for (int i = 0; i < ready.length; i++) {
                int left = other.ready[i] - other.clock;
                if (left > ready[i] && (left > LEAST_LATENCY || i >= tracked.count())) {
                    ready[i] = left;
                    latest = Math.max(latest, ready[i]);
                    more = true;
                }
            }
        }
        return more;
    }

    private boolean joinOrdered(int unit, long[] other) {
        if (ordered[unit] == null) {
            ordered[unit] = other.clone();
            return true;
        }
        boolean more = false;
        for (int i = 0; i < other.length; i++) {
            more |= (other[i] & ~ordered[unit][i]) != 0;
            ordered[unit][i] |= other[i];
        }
        return more;
    }
}
