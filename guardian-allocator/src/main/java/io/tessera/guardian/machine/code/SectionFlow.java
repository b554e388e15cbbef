package io.tessera.guardian.machine.code;

import io.tessera.guardian.machine.MachineCodeException;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Control flow of a section of code. Places are indexes of instructions. Successors are those of a single thread: where threads of a warp wait for
 * each other ({@code BSYNC}), they may continue at every place that a {@code BSSY} of that barrier names. Immutable.
 */
public final class SectionFlow {
    /** No place. */
    public static final int NONE = -1;
    /** Number of convergence barriers. */
    public static final int BARRIERS = 16;
    /** The operand of a condition, beside the predicate of the instruction, that is always true: bits 87 to 90. */
    private static final int TRUE_OPERAND = 7;

    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    /** The second word of a branch without a target, or of an exit: nothing but the true operand. */
    private static final long PLAIN_END = (long) TRUE_OPERAND << 23;
    /** The part of the second word that holds a branch's target, sign included. */
    private static final long BRANCH_TARGET = 0x3ffff;
    /** Ways from a barrier's meetings are pairs: at most this many, which no compiled code comes near. */
    private static final long MOST_PAIRS = 25_000_000;
    /** Blocks of a section: what is known at the start of each takes some kilobytes. Of 35,139 functions of NVIDIA's libraries none has more than 4,396. */
    private static final int MOST_BLOCKS = 1 << 16;
    private static final int[] NOWHERE = {};

    private static final long MEETING_HIGH = 0x3ffff;
    /** Bits of a long behind those of the distance. */
    private static final int MEETING_UNUSED = 14;

    private final Architecture architecture;
    private final long[] code;
    private final MachineOpcode[] operations;
    private final int[] targets;
    private final BitSet leaders = new BitSet();
    /** Those of them that are entered, or the target of a branch. */
    private final BitSet reached = new BitSet();
    private final BitSet entered;
    /** Those of them that more than a {@code WARPSYNC.COLLECTIVE} enters. */
    private final BitSet called;
    /** Indexed by convergence barrier: where the threads that wait at it may continue. */
    private final int[][] meetings = new int[BARRIERS][];

    private SectionFlow(Architecture architecture, long[] code, BitSet entered) {
        this.architecture = architecture;
        this.code = code;
        this.operations = new MachineOpcode[code.length / 2];
        this.targets = new int[code.length / 2];
        this.entered = (BitSet) entered.clone();
        this.called = (BitSet) entered.clone();
        Arrays.fill(meetings, NOWHERE);
    }

    /**
     * Reads the code of a section.
     *
     * @param architecture whose instructions they are
     * @param code    two words for each instruction; not copied
     * @param entered places that are entered other than by a branch here: functions, targets of branch tables
     * @throws MachineCodeException if an instruction is not known, a branch leaves the section, or there are too many blocks
     */
    public static SectionFlow of(Architecture architecture, long[] code, BitSet entered) throws MachineCodeException {
        SectionFlow flow = new SectionFlow(architecture, code, entered);
        flow.read();
        return flow;
    }

    private void read() throws MachineCodeException {
        Arrays.fill(targets, NONE);
        entered.set(0);
        called.set(0);
        for (int i = 0; i < operations.length; i++) {
            MachineOpcode operation = MachineOpcodes.find(architecture, low(i), high(i));
            if (operation == null) {
                throw new MachineCodeException(
                        "an instruction that is not known (opcode 0x" + Integer.toHexString(InstructionWord.key(low(i), high(i))) + ")",
                        i * InstructionWord.BYTES);
            }
            operations[i] = operation;
            switch (operation.kind()) {
                case BRANCH, CALL, COLLECTIVE -> target(i, architecture.distance(low(i), high(i)));
                case MEETING -> target(i, meetingDistance(low(i), high(i)));
                case RETURN, INDIRECT_BRANCH -> requireBase(i);
                default -> {}
            }
            if (endsBlock(operation.kind())) {
                leaders.set(i + 1);
            }
        }
        reached.or(entered);
        leaders.or(reached);
        if (leaders.get(0, count()).cardinality() > MOST_BLOCKS) {
            throw new MachineCodeException("more than " + MOST_BLOCKS + " blocks");
        }
        findMeetings();
        requireFewPairs();
    }

    /** {@code BSSY} has its distance in bytes in bits 32 to 81. */
    private static long meetingDistance(long low, long high) {
        return ((high & MEETING_HIGH) << Integer.SIZE | low >>> Integer.SIZE) << MEETING_UNUSED >> MEETING_UNUSED;
    }

    private void findMeetings() {
        int[] counts = new int[BARRIERS];
        for (int i = 0; i < operations.length; i++) {
            if (operations[i].kind() == Kind.MEETING) {
                counts[barrier(i)]++;
            }
        }
        Arrays.setAll(meetings, barrier -> counts[barrier] == 0 ? NOWHERE : new int[counts[barrier]]);
        Arrays.fill(counts, 0);
        for (int i = 0; i < operations.length; i++) {
            if (operations[i].kind() == Kind.MEETING) {
                meetings[barrier(i)][counts[barrier(i)]++] = targets[i];
            }
        }
    }

    private void requireFewPairs() throws MachineCodeException {
        long[] meets = new long[BARRIERS];
        long pairs = 0;
        for (int i = 0; i < operations.length; i++) {
            if (operations[i].kind() == Kind.MEET) {
                meets[barrier(i)]++;
            }
        }
        for (int i = 0; i < meets.length; i++) {
            pairs += meets[i] * meetings[i].length;
        }
        if (pairs > MOST_PAIRS) {
            throw new MachineCodeException("too many ways through its convergence barriers");
        }
    }

    /** Returns whether an instruction may branch, so that it ends a block. */
    public static boolean endsBlock(Kind kind) {
        return switch (kind) {
            case BRANCH, INDIRECT_BRANCH, CALL, CALL_SYMBOL, CALL_REGISTER, RETURN, EXIT, TRAP, MEET, COLLECTIVE -> true;
            default -> false;
        };
    }

    private void target(int from, long distance) throws MachineCodeException {
        long target = from + 1 + distance / InstructionWord.BYTES;
        if (distance % InstructionWord.BYTES != 0 || target < 0 || target >= operations.length) {
            throw new MachineCodeException("a " + operations[from].name() + " that leaves its function", from * InstructionWord.BYTES);
        }
        targets[from] = (int) target;
        reached.set((int) target);
        if (operations[from].kind() == Kind.CALL || operations[from].kind() == Kind.COLLECTIVE) {
            entered.set((int) target);
        }
        if (operations[from].kind() == Kind.CALL) {
            called.set((int) target);
        }
    }

    /** Registers of returns and tables hold offsets in the section: the number added to them must be the section's start. */
    private void requireBase(int at) throws MachineCodeException {
        long distance = architecture.distance(low(at), high(at));
        if (distance != 0 && at + 1 + distance / InstructionWord.BYTES != 0) {
            throw new MachineCodeException("a " + operations[at].name() + " to a place that is not known", at * InstructionWord.BYTES);
        }
    }

    /** The convergence barrier of a {@code BSSY} or {@code BSYNC}. */
    public int barrier(int at) {
        return (int) (low(at) >>> 16) & 0xf;
    }

    /** The architecture of the instructions. */
    public Architecture architecture() {
        return architecture;
    }

    /** Returns the number of instructions. */
    public int count() {
        return operations.length;
    }

    /** The first word of an instruction. */
    public long low(int at) {
        return code[2 * at];
    }

    /** Its second word. */
    public long high(int at) {
        return code[2 * at + 1];
    }

    /** Returns the known facts about an instruction. */
    public MachineOpcode operation(int at) {
        return operations[at];
    }

    /** Returns the target of a branch, call or {@code BSSY}; {@link #NONE} for others. */
    public int target(int at) {
        return targets[at];
    }

    /** Returns whether a block of instructions begins there. */
    public boolean isLeader(int at) {
        return leaders.get(at);
    }

    /** Returns whether a place is reached only from the instruction before it, if at all. */
    public boolean isOnlyFollowing(int at) {
        return !reached.get(at);
    }

    /** Returns whether a place is entered by a call, a table or from elsewhere, so that nothing is known of registers there. */
    public boolean isEntered(int at) {
        return entered.get(at);
    }

    /** As above, without places that are entered only by a {@code WARPSYNC.COLLECTIVE}: threads continue there after their collective operation. */
    public boolean isCalled(int at) {
        return called.get(at);
    }

    /** The end of the block that begins at a place: the next leader, or the end of the section. */
    public int blockEnd(int from) {
        int next = leaders.nextSetBit(from + 1);
        return next < 0 || next > count() ? count() : next;
    }

    /** Returns whether a branch, or an instruction that sets a branch target, is unconditional. */
    public boolean isAlways(int at) {
        return InstructionWord.predicate(low(at)) == InstructionWord.ALWAYS && (high(at) >>> 23 & 0xf) == TRUE_OPERAND;
    }

    /** Returns whether execution may continue after an instruction: always, unless all of it is known to be an unconditional end. */
    public boolean fallsThrough(int at) {
        long high = high(at) & WITHOUT_CONTROL;
        boolean always = isAlways(at);
        return switch (operations[at].kind()) {
            case BRANCH ->
                !always || InstructionWord.key(low(at), high) != 0x947 || (low(at) >>> 32 & 3) != 0 || (high & ~BRANCH_TARGET) != PLAIN_END;
            case EXIT -> !always || high != PLAIN_END;
            case RETURN, INDIRECT_BRANCH -> !always;
            default -> true;
        };
    }

    /** Blocks to which execution may go from the last instruction of a block, by their first instructions; calls aside. */
    public int[] successors(int last) {
        int[] meeting = meetings(last);
        int[] next = Arrays.copyOf(meeting, meeting.length + 2);
        int count = meeting.length;
        if (following(last) != NONE) {
            next[count++] = following(last);
        }
        if (jump(last) != NONE) {
            next[count++] = jump(last);
        }
        return Arrays.copyOf(next, count);
    }

    /** Returns the successor (see {@link #successors}) that follows the instruction; {@link #NONE} if there is none. */
    public int following(int last) {
        return last + 1 < count() && fallsThrough(last) ? last + 1 : NONE;
    }

    /** Returns the successor (see {@link #successors}) that is the target of a branch; {@link #NONE} if the instruction is not a branch. */
    public int jump(int last) {
        return operations[last].kind() == Kind.BRANCH || operations[last].kind() == Kind.COLLECTIVE ? targets[last] : NONE;
    }

    /** Returns the successors (see {@link #successors}) of a {@code BSYNC}, which are the same for all of a barrier; must not be changed. */
    public int[] meetings(int last) {
        return operations[last].kind() == Kind.MEET ? meetings[barrier(last)] : NOWHERE;
    }

    /** Returns whether execution cannot run past the end of the section: nothing leads into the NOPs after its last instruction, which is an end. */
    public boolean ends() {
        int last = count() - 1;
        while (last >= 0 && "NOP".equals(operations[last].name())) {
            last--;
        }
        for (int i = 0; i < count(); i++) {
            if (targets[i] > last) {
                return false;
            }
        }
        return last >= 0 && !fallsThrough(last) && entered.nextSetBit(last + 1) < 0;
    }
}
