package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.SectionFlow;

/**
 * Five instructions by which a thread reports and ends, all under one predicate: two moves of the report's address into R0 and R1, a move of a value
 * into R2, a store, and {@code EXIT}. The first one waits for all scoreboards, so that no load in flight overwrites the registers. Stateless.
 */
public final class ReportSequence {
    /** {@code STG.E [R0.64+URZ], R2}: the first word without its predicate. */
    public static final long STORE = 0x200000986L;
    /** Its second word without control bits. */
    public static final long STORE_HIGH = 0x0c10093fL;
    /** {@code EXIT}. */
    public static final long EXIT = 0x94d;
    /** Its second word without control bits. */
    public static final long EXIT_HIGH = 0x03800000L;
    /** All six scoreboards. */
    public static final int ALL_SCOREBOARDS = 0x3f;
    static final int BEFORE_STORE = 3;
    /** Minimum number of cycles that ptxas leaves between a computation and a memory access by its result. */
    private static final int LEAST_STALL = 5;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    private static final long PREDICATE = 0xf000;

    private ReportSequence() {
    }

    /** Returns whether the store at a place is that of a report. */
    static boolean isStore(SectionFlow flow, int at, MachineFence fence) {
        int first = at - BEFORE_STORE;
        if (!fence.reports() || first < 0 || at + 1 >= flow.count() || !is(flow, at, STORE, STORE_HIGH, at)) {
            return false;
        }
        boolean entered = false;
        for (int i = first + 1; i <= at + 1; i++) {
            entered |= flow.isLeader(i);
        }
        int reason = InstructionWord.immediate(flow.low(at - 1));
        return !entered && fence.isReported(reason) && InstructionWord.waits(flow.high(first)) == ALL_SCOREBOARDS
                && InstructionWord.cycles(flow.high(at - 1)) >= LEAST_STALL
                && moves(flow, first, 0, (int) fence.reportAddress(), at) && moves(flow, first + 1, 1, (int) (fence.reportAddress() >>> 32), at)
                && moves(flow, first + 2, 2, reason, at) && is(flow, at + 1, EXIT, EXIT_HIGH, at);
    }

    /** Returns whether the first instruction of a report is at a place. */
    static boolean begins(SectionFlow flow, int at, MachineFence fence) {
        return (flow.low(at) & 0xff0fffL) == 0x802 && at + BEFORE_STORE < flow.count() && isStore(flow, at + BEFORE_STORE, fence);
    }

    /** Returns whether no thread reaches a place, because a report under its predicate directly precedes it, and nothing else leads to it. */
    static boolean endsBefore(SectionFlow flow, int at, MachineFence fence) {
        int store = at - 2;
        return store >= 0 && flow.isOnlyFollowing(at) && isStore(flow, store, fence)
                && InstructionWord.predicate(flow.low(store)) == InstructionWord.predicate(flow.low(at));
    }

    /** The first instruction of the report whose store is at a place. */
    static int first(int store) {
        return store - BEFORE_STORE;
    }

    private static boolean moves(SectionFlow flow, int at, int register, int value, int store) {
        return is(flow, at, 0x802 | (long) register << 16 | (long) value << 32, 0xf00, store);
    }

    /** Returns whether an instruction equals a given one under the predicate of another. */
    private static boolean is(SectionFlow flow, int at, long low, long high, int other) {
        return flow.low(at) == (low | flow.low(other) & PREDICATE) && (flow.high(at) & WITHOUT_CONTROL) == high;
    }
}
