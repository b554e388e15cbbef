package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.ResultTiming;

import java.util.Arrays;

/**
 * Pending register accesses at a place of the code: the registers that instructions already issued may still write or read. Only the registers of a
 * {@link TrackedRegisters} set are distinguished; all others count as one. A scoreboard belongs to a warp, but a thread that waits for it also waits
 * for its own instructions, so it suffices to follow the paths of one thread. One owner thread.
 */
final class RegistersInFlight {
    private static final int SCOREBOARDS = 6;
    private static final int NONE = 7;
    /** Sets of pending writes: one for each scoreboard, one for writes without a scoreboard, and two for groups of asynchronous matrix products. */
    private static final int NEVER = SCOREBOARDS;
    private static final int OPEN_GROUP = NEVER + 1;
    private static final int CLOSED_GROUP = OPEN_GROUP + 1;
    private static final int SETS = CLOSED_GROUP + 1;
    /** By set of scoreboards for which the code waits, as bits: the sets that intersect it. */
    private static final long[] MET = new long[1 << SCOREBOARDS];

    static {
        for (int waits = 0; waits < MET.length; waits++) {
            for (int set = 0; set < MET.length; set++) {
                MET[waits] |= (waits & set) != 0 ? 1L << set : 0;
            }
        }
    }

    private static final int READS = ResultTiming.values().length;
    /** Bits of the units that write results. */
    private static final int RESULTS = (1 << READS) - 1;
    private static final int PREDICATES = 7;
    private final TrackedRegisters tracked;
    private final int words;
    /** Pending writes, as bits by register, for each set. */
    private final long[] writes;
    /** Predicates with pending writes, as bits, for each set. */
    private final int[] predicates = new int[SETS];
    /** Bits of the sets that are not empty. */
    private int open;
    /** The time at which an instruction of a fixed latency writes each register, then each predicate, in cycles since the block's start. */
    private final int[] ready;
    private int clock;
    private int latest;
    /**
     * For each unit that works in order, by register and predicate: its pending writes. The last element holds the pending reads of addresses by
     * accesses. Bit n of a value stands for the set of scoreboards whose bits are n: for each bit, the code must wait for one scoreboard of the set.
     * Bit 0 is the empty set, for which no wait suffices. Only units in {@link #pending} count.
     */
    private final long[][] ordered = new long[READS + 1][];
    /** Bits of the units that have pending accesses. */
    private int pending;

    RegistersInFlight(TrackedRegisters tracked) {
        this.tracked = tracked;
        this.words = (tracked.count() + Long.SIZE - 1) / Long.SIZE;
        this.writes = new long[SETS * words];
        this.ready = new int[tracked.count() + PREDICATES];
    }

    /** Sets the time, in cycles since the start of the block. */
    void at(int cycles) {
        clock = cycles;
    }

    /** Removes the accesses for which an instruction waits. Here and below, an instruction is given by its facts, see {@link IssueTable}. */
    void await(long facts) {
        int waits = IssueTable.waits(facts);
        for (int left = waits & open; left != 0; left &= left - 1) {
            clear(Integer.numberOfTrailingZeros(left));
        }
        for (int left = waits != 0 ? pending : 0; left != 0; left &= left - 1) {
            int unit = Integer.numberOfTrailingZeros(left);
            if (isOver(ordered[unit], MET[waits])) {
                pending &= ~(1 << unit);
            }
        }
        if (IssueTable.waitsForGroup(facts) && (open >>> CLOSED_GROUP & 1) != 0) {
            clear(CLOSED_GROUP);
        }
    }

    private static boolean isOver(long[] unit, long met) {
        long any = 0;
        for (int i = 0; i < unit.length; i++) {
            unit[i] &= ~met;
            any |= unit[i];
        }
        return any == 0;
    }

    private void clear(int set) {
        Arrays.fill(writes, set * words, (set + 1) * words, 0);
        predicates[set] = 0;
        open &= ~(1 << set);
    }

    /** Records that an instruction was issued, after its waits: its writes are pending. */
    void issue(long facts) {
        ResultTiming timing = IssueTable.timing(facts);
        int board = IssueTable.writeScoreboard(facts);
        int first = IssueTable.first(facts);
        int end = IssueTable.end(facts);
        int written = IssueTable.predicates(facts);
        if (timing.isFixed()) {
            for (int r = first; r < end; r++) {
                readyAt(tracked.number(r), timing.cycles());
            }
            for (int left = written; left != 0; left &= left - 1) {
                readyAt(tracked.count() + Integer.numberOfTrailingZeros(left), ResultTiming.PREDICATE_CYCLES);
            }
        }
        if (timing.isInOrder()) {
            inOrder(timing.ordinal(), first, end, written, board < SCOREBOARDS ? 1 << board : 0);
        } else if (!timing.isFixed() || board < SCOREBOARDS) {
            int set = board < SCOREBOARDS ? board : set(timing, facts);
            for (int r = first; r < end; r++) {
                int number = tracked.number(r);
                writes[set * words + (number >>> 6)] |= 1L << number;
            }
            predicates[set] |= written;
            open |= written != 0 || first < end ? 1 << set : 0;
        }
        if (IssueTable.endsGroup(facts)) {
            move(OPEN_GROUP, CLOSED_GROUP);
        }
    }

    /** Records work of a unit that works in order. Its scoreboard also signals the end of all earlier work of the unit. */
    private void inOrder(int unit, int first, int end, int written, int boards) {
        if (boards != 0 && (pending >>> unit & 1) != 0) {
            long[] before = ordered[unit];
            for (int i = 0; i < before.length; i++) {
                before[i] = before[i] == 0 ? 0 : alsoBy(before[i], boards);
            }
        }
        for (int r = first; r < end; r++) {
            pend(unit, tracked.number(r), boards);
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
        if ((pending >>> unit & 1) == 0) {
            pending |= 1 << unit;
            if (ordered[unit] == null) {
                ordered[unit] = new long[tracked.count() + PREDICATES];
            } else {
                Arrays.fill(ordered[unit], 0);
            }
        }
        // The unit's earlier write to this register ends before this one. But number 0 stands for many registers, so its earlier writes are kept.
        ordered[unit][number] = (number == 0 ? ordered[unit][0] : 0) | 1L << boards;
    }

    private static int set(ResultTiming timing, long facts) {
        return timing != ResultTiming.GROUP ? NEVER : IssueTable.endsGroup(facts) ? CLOSED_GROUP : OPEN_GROUP;
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

    /** Records that an access was issued. Accesses read their registers in order, so the scoreboard of one also signals the reads of all earlier ones. */
    void access(long facts) {
        int boards = (1 << IssueTable.readScoreboard(facts) | 1 << IssueTable.writeScoreboard(facts)) & (1 << SCOREBOARDS) - 1;
        inOrder(READS, 0, 0, 0, boards);
        if (IssueTable.address(facts) != 0) {
            pend(READS, IssueTable.address(facts), boards);
        }
    }

    /** Returns whether an access may still read, for its address, one of the registers that an instruction writes. */
    boolean isRead(long facts) {
        for (int r = IssueTable.first(facts); isReading() && r < IssueTable.end(facts); r++) {
            if (ordered[READS][tracked.number(r)] != 0) {
                return true;
            }
        }
        return false;
    }

    private boolean isPending(int number) {
        for (int left = pending & RESULTS; left != 0; left &= left - 1) {
            if (ordered[Integer.numberOfTrailingZeros(left)][number] != 0) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether an earlier instruction may write a register later than an instruction that is issued now. */
    boolean isWritten(int register) {
        int number = tracked.number(register);
        for (int left = open; left != 0; left &= left - 1) {
            int set = Integer.numberOfTrailingZeros(left);
            if ((writes[set * words + (number >>> 6)] >>> number & 1) != 0) {
                return true;
            }
        }
        return ready[number] > clock + ResultTiming.LEAST_LATENCY || isPending(number);
    }

    /**
     * Returns whether an instruction that was issued this many cycles ago would have read the last write of a register, and one that is issued now
     * reads the last write of a predicate, as defined by {@link #isPredicateWritten}.
     */
    boolean isThere(int register, int predicate, int cycles) {
        return !isWritten(register) && ready[tracked.number(register)] <= clock - cycles && !isPredicateWritten(predicate);
    }

    /** Returns scoreboards after which no result is in flight, as far as scoreboards show. */
    int scoreboards() {
        int boards = open & (1 << SCOREBOARDS) - 1;
        for (int left = pending & RESULTS; left != 0; left &= left - 1) {
            for (long sets : ordered[Integer.numberOfTrailingZeros(left)]) {
                boards |= oneOfEach(sets);
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

    /** Returns whether a unit that works in order may still write a register, and no scoreboard signals its completion. */
    boolean isWrittenWithoutScoreboard(int register, ResultTiming unit) {
        return unit.isInOrder() && (pending >>> unit.ordinal() & 1) != 0 && (ordered[unit.ordinal()][tracked.number(register)] & 1) != 0;
    }

    /**
     * Returns the scoreboards after which a register, and a predicate as defined by {@link #isPredicateWritten}, are no longer in flight, as far as
     * scoreboards show.
     */
    int scoreboards(int register, int predicate) {
        int number = tracked.number(register);
        int p = predicate & 7;
        int boards = 0;
        for (int b = 0; b < SCOREBOARDS; b++) {
            boolean pending = (writes[b * words + (number >>> 6)] >>> number & 1) != 0 || p < PREDICATES && (predicates[b] >>> p & 1) != 0;
            boards |= pending ? 1 << b : 0;
        }
        for (int left = pending & RESULTS; left != 0; left &= left - 1) {
            long[] unit = ordered[Integer.numberOfTrailingZeros(left)];
            boards |= oneOfEach(unit[number]) | (p < PREDICATES ? oneOfEach(unit[tracked.count() + p]) : 0);
        }
        return boards;
    }

    /**
     * Returns the cycles until results of a fixed latency are in a register, and in a predicate as defined by {@link #isPredicateWritten}; at most 0
     * if they are.
     */
    int cycles(int register, int predicate) {
        int p = predicate & 7;
        int until = ready[tracked.number(register)] - clock - ResultTiming.LEAST_LATENCY;
        return p < PREDICATES ? Math.max(until, ready[tracked.count() + p] - clock) : until;
    }

    /** Returns whether a predicate, 0 to 7 and negated with 8, may still change. */
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

    /** Returns whether no result is in flight, except those that arrive within the time of a call or return. */
    boolean isQuiet() {
        return open == 0 && (pending & RESULTS) == 0 && latest <= clock + ResultTiming.MEDIUM_CYCLES;
    }

    /** Returns whether an access may still read its address. */
    boolean isReading() {
        return (pending >>> READS & 1) != 0;
    }

    /** Copies the state at the start of a block, where the clock is 0. */
    void set(RegistersInFlight other) {
        System.arraycopy(other.writes, 0, writes, 0, writes.length);
        System.arraycopy(other.predicates, 0, predicates, 0, SETS);
        open = other.open;
        System.arraycopy(other.ready, 0, ready, 0, ready.length);
        clock = other.clock;
        latest = other.latest;
        pending = other.pending;
        for (int left = pending; left != 0; left &= left - 1) {
            copyUnit(Integer.numberOfTrailingZeros(left), other);
        }
    }

    private void copyUnit(int unit, RegistersInFlight other) {
        if (ordered[unit] == null) {
            ordered[unit] = other.ordered[unit].clone();
        } else {
            System.arraycopy(other.ordered[unit], 0, ordered[unit], 0, ordered[unit].length);
        }
    }

    /** Adds the pending accesses of another path to this place. Returns whether there are more now. */
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
        for (int left = other.pending; left != 0; left &= left - 1) {
            more |= joinUnit(Integer.numberOfTrailingZeros(left), other);
        }
        if (other.latest > other.clock) {
            for (int i = 0; i < ready.length; i++) {
                int left = other.ready[i] - other.clock;
                if (left > ready[i] && (left > ResultTiming.LEAST_LATENCY || i >= tracked.count())) {
                    ready[i] = left;
                    latest = Math.max(latest, ready[i]);
                    more = true;
                }
            }
        }
        return more;
    }

    private boolean joinUnit(int unit, RegistersInFlight other) {
        if ((pending >>> unit & 1) == 0) {
            pending |= 1 << unit;
            copyUnit(unit, other);
            return true;
        }
        boolean more = false;
        long[] own = ordered[unit];
        long[] added = other.ordered[unit];
        for (int i = 0; i < own.length; i++) {
            more |= (added[i] & ~own[i]) != 0;
            own[i] |= added[i];
        }
        return more;
    }
}
