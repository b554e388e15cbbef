package io.tessera.guardian.machine.code;

import io.tessera.guardian.machine.MachineCodeException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Where execution can go in a section of code. Places are numbers of instructions. Successors are those of a thread: where threads of a warp wait for each
 * other ({@code BSYNC}), they may go on at every place that a {@code BSSY} of that barrier names. Immutable once made.
 */
public final class SectionFlow {
    /** No place. */
    public static final int NONE = -1;
    /** The operand of a condition, beside the predicate of the instruction, that is always true: bits 87 to 90. */
    private static final int TRUE_OPERAND = 7;

    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    /** The second word of a branch without a target, or of an exit: nothing but the true operand. */
    private static final long PLAIN_END = (long) TRUE_OPERAND << 23;
    /** Where a branch has its target in the second word, and the target's sign. */
    private static final long BRANCH_TARGET = 0x3ffff;
    /** Ways from a barrier's meetings are pairs: so many at most, which no compiled code comes near. */
    private static final long MOST_PAIRS = 25_000_000;

    private final long[] code;
    private final MachineOpcode[] operations;
    private final int[] targets;
    private final BitSet leaders = new BitSet();
    private final BitSet entered;
    /** Those of them that more than a {@code WARPSYNC.COLLECTIVE} enters. */
    private final BitSet called;
    private final List<List<Integer>> meetings = new ArrayList<>();

    private SectionFlow(long[] code, BitSet entered) {
        this.code = code;
        this.operations = new MachineOpcode[code.length / 2];
        this.targets = new int[code.length / 2];
        this.entered = (BitSet) entered.clone();
        this.called = (BitSet) entered.clone();
        for (int i = 0; i < 16; i++) {
            meetings.add(new ArrayList<>());
        }
    }

    /**
     * Reads the code of a section.
     *
     * @param code    two words for each instruction; not copied
     * @param entered places that are entered other than by a branch here: functions, targets of branch tables
     * @throws MachineCodeException if an instruction is not known, or a branch leaves the section
     */
    public static SectionFlow of(long[] code, BitSet entered) throws MachineCodeException {
        SectionFlow flow = new SectionFlow(code, entered);
        flow.read();
        return flow;
    }

    private void read() throws MachineCodeException {
        Arrays.fill(targets, NONE);
        entered.set(0);
        called.set(0);
        for (int i = 0; i < operations.length; i++) {
            MachineOpcode operation = MachineOpcodes.find(low(i), high(i));
            if (operation == null) {
                throw new MachineCodeException(
                        "an instruction that is not known (opcode 0x" + Integer.toHexString(InstructionWord.key(low(i), high(i))) + ")",
                        i * InstructionWord.BYTES);
            }
            operations[i] = operation;
            switch (operation.kind()) {
                case BRANCH, CALL, COLLECTIVE -> target(i, InstructionWord.distance(low(i), high(i)));
                case MEETING -> target(i, InstructionWord.immediate(low(i)));
                case RETURN, INDIRECT_BRANCH -> requireBase(i);
                default -> {}
            }
            if (endsBlock(operation.kind())) {
                leaders.set(i + 1);
            }
        }
        leaders.or(entered);
        requireFewPairs();
    }

    private void requireFewPairs() throws MachineCodeException {
        long[] meets = new long[meetings.size()];
        long pairs = 0;
        for (int i = 0; i < operations.length; i++) {
            if (operations[i].kind() == Kind.MEET) {
                meets[barrier(i)]++;
            }
        }
        for (int i = 0; i < meets.length; i++) {
            pairs += meets[i] * meetings.get(i).size();
        }
        if (pairs > MOST_PAIRS) {
            throw new MachineCodeException("too many ways through its convergence barriers");
        }
    }

    /** Whether execution may go elsewhere behind an instruction. */
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
        leaders.set((int) target);
        switch (operations[from].kind()) {
            case CALL -> {
                entered.set((int) target);
                called.set((int) target);
            }
            case COLLECTIVE -> entered.set((int) target);
            case MEETING -> meetings.get(barrier(from)).add((int) target);
            default -> {}
        }
    }

    /** Registers of returns and tables hold offsets in the section: what is added to them has to be the section's start. */
    private void requireBase(int at) throws MachineCodeException {
        long distance = InstructionWord.distance(low(at), high(at));
        if (distance != 0 && at + 1 + distance / InstructionWord.BYTES != 0) {
            throw new MachineCodeException("a " + operations[at].name() + " to a place that is not known", at * InstructionWord.BYTES);
        }
    }

    /** The convergence barrier of a {@code BSSY} or {@code BSYNC}. */
    public int barrier(int at) {
        return (int) (low(at) >>> 16) & 0xf;
    }

    /** How many instructions there are. */
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

    /** What is known of it. */
    public MachineOpcode operation(int at) {
        return operations[at];
    }

    /** Where a branch, call or {@code BSSY} goes; {@link #NONE} for others. */
    public int target(int at) {
        return targets[at];
    }

    /** Whether a block of instructions begins there. */
    public boolean isLeader(int at) {
        return leaders.get(at);
    }

    /** Whether a place is entered by a call, a table or from elsewhere, so that nothing is known of registers there. */
    public boolean isEntered(int at) {
        return entered.get(at);
    }

    /** The same without places that nothing but a {@code WARPSYNC.COLLECTIVE} enters: threads go on there after what they did together. */
    public boolean isCalled(int at) {
        return called.get(at);
    }

    /** The end of the block that begins at a place: the next leader, or the end of the section. */
    public int blockEnd(int from) {
        int next = leaders.nextSetBit(from + 1);
        return next < 0 || next > count() ? count() : next;
    }

    /** Whether execution may go on behind an instruction: always, unless all of it is known to be an unconditional end. */
    public boolean fallsThrough(int at) {
        long high = high(at) & WITHOUT_CONTROL;
        boolean always = InstructionWord.predicate(low(at)) == InstructionWord.ALWAYS && (high >>> 23 & 0xf) == TRUE_OPERAND;
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
        List<Integer> next = new ArrayList<>();
        if (fallsThrough(last) && last + 1 < count()) {
            next.add(last + 1);
        }
        switch (operations[last].kind()) {
            case BRANCH, COLLECTIVE -> next.add(targets[last]);
            case MEET -> next.addAll(meetings.get(barrier(last)));
            default -> {}
        }
        return next.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Whether execution cannot run over the end of the section: nothing leads into the NOPs behind its last instruction, which is an end. */
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
