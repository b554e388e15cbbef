package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.code.ResultTiming;
import java.util.Arrays;

/**
 * The effects of a section's instructions on {@link RegistersInFlight}, decoded once for all paths through the section. Most instructions only take
 * cycles, and have no entry. For each of the others, the effects are packed into one number, its facts. Immutable.
 */
final class IssueTable {
    /** {@code WARPGROUP.DEPBAR.LE gsb0, 0x0}. */
    private static final long GROUP_WAIT = 0x00008000_000079c5L;
    private static final long GROUP_WAIT_HIGH = 0x10000;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    private static final int GROUP_REGISTERS = 128;
    private static final int NO_SCOREBOARD = 7;
    private static final ResultTiming[] TIMINGS = ResultTiming.values();
    /** Positions of the fields of facts. */
    private static final int WRITE_SCOREBOARD = 6;
    private static final int READ_SCOREBOARD = 9;
    private static final int TIMING = 12;
    private static final int FIRST = 16;
    private static final int COUNT = 24;
    private static final int PREDICATES = 32;
    private static final int ADDRESS = 40;
    private static final long MEMORY = 1L << 48;
    private static final long WAITS_FOR_GROUP = 1L << 49;
    private static final long ENDS_GROUP = 1L << 50;
    private static final long OVER = 1L << 51;
    private static final int BYTE = 0xff;

    private final Architecture architecture;
    private final TrackedRegisters tracked;
    private final int predicates;
    private final boolean crosses;
    private int[] places;
    private long[] facts;
    private int count;
    /** Indexed by instruction: number of earlier instructions in the table. */
    private final int[] before;
    /** Indexed by instruction: cycles from the section's start to it, in the order of the code. */
    private final int[] cycles;

    /**
     * Reads a section.
     *
     * @param tracked    registers that are distinguished
     * @param predicates predicates that are tracked, as bits
     * @param crosses    whether it matters at some place that nothing at all is in flight
     */
    IssueTable(SectionFlow flow, TrackedRegisters tracked, int predicates, boolean crosses) {
        this.architecture = flow.architecture();
        this.tracked = tracked;
        this.predicates = predicates;
        this.crosses = crosses;
        before = new int[flow.count() + 1];
        cycles = new int[flow.count() + 1];
        places = new int[Math.max(1, flow.count() / 2)];
        facts = new long[places.length];
        for (int i = 0; i < flow.count(); i++) {
            cycles[i + 1] = cycles[i] + InstructionWord.cycles(flow.high(i));
        }
        for (int block = 0; block < flow.count(); block = flow.blockEnd(block)) {
            int end = flow.blockEnd(block);
            for (int i = block; i < end; i++) {
                before[i] = count;
                long own = facts(flow.low(i), flow.high(i), flow.operation(i), waits(flow, i));
                if (own != 0) {
                    add(i, isOver(own, cycles(i, end)) ? own | OVER : own);
                }
            }
        }
        before[flow.count()] = count;
    }

    /** Returns whether no effect of an instruction is still in flight this many cycles later. */
    private static boolean isOver(long facts, int cycles) {
        ResultTiming timing = timing(facts);
        return timing.isFixed() && waits(facts) == 0 && writeScoreboard(facts) == NO_SCOREBOARD && !waitsForGroup(facts) && !isMemory(facts)
                && (first(facts) == end(facts) || timing.cycles() - cycles <= ResultTiming.LEAST_LATENCY)
                && (predicates(facts) == 0 || ResultTiming.PREDICATE_CYCLES <= cycles);
    }

    private void add(int at, long own) {
        if (count == places.length) {
            places = Arrays.copyOf(places, 2 * count);
            facts = Arrays.copyOf(facts, 2 * count);
        }
        places[count] = at;
        facts[count++] = own;
    }

    /** Returns the scoreboards for which an instruction waits, without those set so shortly before it that the wait does not see them. */
    private static int waits(SectionFlow flow, int at) {
        int waits = InstructionWord.waits(flow.high(at));
        int cycles = 0;
        for (int i = at - 1; waits != 0 && i >= 0; i--) {
            cycles += InstructionWord.cycles(flow.high(i));
            if (cycles >= InstructionWord.SCOREBOARD_CYCLES) {
                break;
            }
            waits &= ~InstructionWord.scoreboards(flow.high(i));
        }
        return waits;
    }

    /** Returns the facts of an instruction; 0 if it has no entry. */
    private long facts(long low, long high, MachineOpcode operation, int waits) {
        ResultTiming timing = ResultTiming.of(architecture, low, high);
        int board = scoreboard(low, high, operation);
        boolean counted = timing.isFixed() && board == NO_SCOREBOARD;
        int first = operation.kind() == Kind.TEXTURE ? 0 : InstructionWord.destination(low);
        int registers = Math.min(registers(low, high, operation, timing), InstructionWord.ZERO_REGISTER - first);
        // A call or return takes longer than arithmetic, so that only long results can be in flight there.
        boolean matters = crosses && (!counted || timing == ResultTiming.LONG) || tracked.any(first, registers);
        int written = ResultTiming.predicates(low, high) & (crosses && !counted ? -1 : predicates);
        boolean memory = isMemory(operation);
        boolean group = low == GROUP_WAIT && (high & WITHOUT_CONTROL) == GROUP_WAIT_HIGH;
        boolean says = timing.isInOrder() && board != NO_SCOREBOARD;
        boolean crossing = operation.kind() == Kind.CALL_SYMBOL || operation.kind() == Kind.CALL_REGISTER || operation.kind() == Kind.RETURN
                || operation.kind() == Kind.INDIRECT_BRANCH;
        if (!(matters && registers > 0) && written == 0 && !memory && waits == 0 && !group && !says && !crossing && timing != ResultTiming.GROUP) {
            return 0;
        }
        return waits | (long) board << WRITE_SCOREBOARD | (long) InstructionWord.readScoreboard(high) << READ_SCOREBOARD
                | (long) timing.ordinal() << TIMING | (long) first << FIRST | (matters ? (long) registers << COUNT : 0)
                | (long) written << PREDICATES | (memory ? MEMORY | (long) address(low, high, operation) << ADDRESS : 0)
                | (group ? WAITS_FOR_GROUP : 0) | (endsGroup(timing, high) ? ENDS_GROUP : 0);
    }

    /**
     * Returns the scoreboard that signals the result of an instruction. A generic atomic without a return value still writes a predicate that says whether it
     * reached global memory; ptxas waits for that predicate by the scoreboard for its sources.
     */
    private static int scoreboard(long low, long high, MachineOpcode operation) {
        int board = InstructionWord.writeScoreboard(high);
        boolean bySources = board == NO_SCOREBOARD && InstructionWord.destination(low) == InstructionWord.ZERO_REGISTER
                && "ATOM".equals(operation.name());
        return bySources ? InstructionWord.readScoreboard(high) : board;
    }

    /**
     * Returns how many general registers an instruction writes. A call or a place where threads gather counts as none, because the instructions that
     * write there are checked themselves.
     */
    static int registers(long low, long high, MachineOpcode operation, ResultTiming timing) {
        if (timing == ResultTiming.GROUP) {
            return groupRegisters(low);
        }
        if (operation.registers() == MachineOpcode.MANY) {
            return operation.kind() == Kind.TEXTURE ? InstructionWord.ZERO_REGISTER : 0;
        }
        return operation.registers() == 0 ? 0 : Math.min(operation.registers(), ResultTiming.width(low, high));
    }

    /**
     * Returns the number of result registers of a matrix product by descriptors (WGMMA). If the result has 64 times N elements, each of 128 threads has
     * N / 2 of them, in as many registers if they have 32 bits. N / 8 - 1 is in bits 53 to 57, except for {@code IGMMA}.
     */
    private static int groupRegisters(long low) {
        boolean integers = (low & 0xf) == 1;
        return integers ? GROUP_REGISTERS : ((int) (low >>> 53 & 0x1f) + 1) * 4;
    }

    /** Returns whether a matrix product by descriptors ends its group, {@code gsb0}: bits 84 to 86 are 0. */
    private static boolean endsGroup(ResultTiming timing, long high) {
        return timing == ResultTiming.GROUP && (high >>> 20 & 7) == 0;
    }

    /**
     * Returns the number of the register that contains an address, if it is tracked. An access that adds 32 bits of its register to the window's base
     * has no such register.
     */
    private int address(long low, long high, MachineOpcode operation) {
        boolean based = operation.kind() == Kind.GLOBAL && !GlobalForm.of(InstructionWord.key(low, high)).isWide(high);
        boolean none = !operation.isGlobal() || based || InstructionWord.source(low) == InstructionWord.ZERO_REGISTER;
        return none ? 0 : tracked.address(InstructionWord.source(low) + 1);
    }

    /** Returns whether an instruction is an access that goes through the memory unit, which executes accesses in order. */
    private static boolean isMemory(MachineOpcode operation) {
        return operation.isGlobal() || operation.kind() == Kind.ON_CHIP && switch (operation.name()) {
            case "LDS", "STS", "LDSM", "STSM", "ATOMS", "LDL", "STL" -> true;
            default -> false;
        };
    }

    /** Returns the first entry of the table for an instruction at or after a place. */
    int from(int at) {
        return before[at];
    }

    int place(int entry) {
        return places[entry];
    }

    long facts(int entry) {
        return facts[entry];
    }

    /** Returns the minimum number of cycles from the issue of an instruction to that of a later one in its block. */
    int cycles(int from, int to) {
        return cycles[to] - cycles[from];
    }

    /** Scoreboards that it waits for, as bits. */
    static int waits(long facts) {
        return (int) facts & 0x3f;
    }

    static int writeScoreboard(long facts) {
        return (int) (facts >>> WRITE_SCOREBOARD) & 7;
    }

    static int readScoreboard(long facts) {
        return (int) (facts >>> READ_SCOREBOARD) & 7;
    }

    static ResultTiming timing(long facts) {
        return TIMINGS[(int) (facts >>> TIMING) & 0xf];
    }

    /** The first register that it writes. */
    static int first(long facts) {
        return (int) (facts >>> FIRST) & BYTE;
    }

    /** The number after the last register that it writes, as far as it matters. */
    static int end(long facts) {
        return first(facts) + ((int) (facts >>> COUNT) & BYTE);
    }

    /** Predicates that it writes, as far as it matters, as bits. */
    static int predicates(long facts) {
        return (int) (facts >>> PREDICATES) & BYTE;
    }

    /** Returns whether it accesses memory. */
    static boolean isMemory(long facts) {
        return (facts & MEMORY) != 0;
    }

    /** Returns the number of the register on which its address depends; 0 if that register is not tracked. */
    static int address(long facts) {
        return (int) (facts >>> ADDRESS) & BYTE;
    }

    /** Returns whether it has no effect in flight at the end of its block. */
    static boolean isOver(long facts) {
        return (facts & OVER) != 0;
    }

    static boolean waitsForGroup(long facts) {
        return (facts & WAITS_FOR_GROUP) != 0;
    }

    static boolean endsGroup(long facts) {
        return (facts & ENDS_GROUP) != 0;
    }
}
