package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;

/**
 * The effect of an instruction as a step of a fence. A step is recognised by all of its bits except those for timing, so that it does exactly this.
 * {@link FencedRegisters} determines when results are ready.
 */
public enum FenceStep {
    NONE,
    /** {@code MOV R, base}, for windows of 4 GiB. */
    MOVE,
    /** {@code R |= base}; {@link #AND} must follow. */
    OR,
    /** {@code R &= base | mask}. */
    AND,
    /** {@code R = R & mask | B}, where B is a register that keeps the base. */
    AND_OR,
    /** {@code UIADD3 U, -UR.hi, base - 1}: the lower bound of a high word to which UR.hi is added. */
    LOWER_BOUND,
    /** {@code UIADD3 U, -UR.hi, base + mask}: the upper bound. */
    UPPER_BOUND,
    /** {@code VIMNMX R = max(R, U)}, signed; before sm_90 {@code IMNMX}. */
    RAISE,
    /** {@code VIMNMX R = min(R, U)}, signed. */
    LOWER;

    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    private static final int MOV_KEY = 0x802;
    private static final int LOGIC_KEY = 0x812;
    private static final int DIFFERENCE_KEY = 0x890;
    private static final int UNIFORM_MOVE_KEY = 0x882;
    private static final int UNIFORM_LOGIC_KEY = 0x892;
    /** {@code ULOP3.LUT URd, URa, imm, URZ, table, !UPT}, of fences that {@link SummedAddresses} describes. */
    static final long UNIFORM_LOGIC = 0x7892;
    static final long UNIFORM_OR_HIGH = 0x0f8efc3fL;
    static final long UNIFORM_AND_HIGH = 0x0f8ec03fL;
    private static final int OR_TABLE = 0xfc;
    private static final int AND_TABLE = 0xc0;
    private static final int AND_OR_TABLE = 0xea;
    private static final long LOP3 = 0x078e0000L;
    private static final long MOV_ALL_BYTES = 0xf00;
    private static final long DIFFERENCE_HIGH = 0x0fffe13fL;

    /**
     * Returns the step that an instruction is.
     *
     * @param architecture architecture of the instruction
     * @param baseRegister a register that keeps the base in all of the code; {@link InstructionWord#ZERO_REGISTER} if there is none
     */
    static FenceStep of(Architecture architecture, long low, long high, MachineFence fence, int baseRegister) {
        int key = (int) low & 0xfff;
        boolean limits = key == architecture.limitLow();
        if (key != MOV_KEY && key != LOGIC_KEY && key != DIFFERENCE_KEY && !limits || InstructionWord.reuses(high)) {
            return NONE;
        }
        long rest = high & WITHOUT_CONTROL;
        if (limits || key == DIFFERENCE_KEY) {
            boolean used = boundsSums(architecture, fence);
            return !used ? NONE : limits ? limit(architecture, low, rest, baseRegister) : difference(low, rest, fence);
        }
        return key == MOV_KEY ? move(low, rest, fence, baseRegister) : logic(low, rest, fence, baseRegister);
    }

    /** Returns whether an instruction writes a constant to a register, like those that load the window's base at the start of a section. */
    public static boolean isConstant(long low) {
        int key = (int) low & 0xfff;
        return key == MOV_KEY || key == UNIFORM_MOVE_KEY;
    }

    /**
     * Returns whether an instruction has a constant of the window and may be taken for one of the fence: a step of it, or one that loads the window's
     * base.
     *
     * @param start whether it and all instructions before it in its section satisfy {@link #isConstant}
     */
    public static boolean namesWindow(Architecture architecture, long low, long high, MachineFence fence, boolean start) {
        return switch ((int) low & 0xfff) {
            case UNIFORM_MOVE_KEY -> fence.mask() == 0 && InstructionWord.immediate(low) == fence.baseHigh();
            case UNIFORM_LOGIC_KEY -> forces(low, high & WITHOUT_CONTROL, fence);
            case MOV_KEY, LOGIC_KEY, DIFFERENCE_KEY -> start && InstructionWord.immediate(low) == fence.baseHigh()
                    || of(architecture, low, high, fence, InstructionWord.ZERO_REGISTER) != NONE;
            default -> false;
        };
    }

    /** Returns whether an instruction forces a uniform register into the window. */
    private static boolean forces(long low, long rest, MachineFence fence) {
        int immediate = InstructionWord.immediate(low);
        return (low & 0xffff) == UNIFORM_LOGIC && (rest == UNIFORM_OR_HIGH && immediate == fence.baseHigh()
                || rest == UNIFORM_AND_HIGH && immediate == (fence.baseHigh() | fence.mask()));
    }

    /**
     * Returns whether sums are fenced by bounds on an architecture for a window; otherwise, the uniform register of the access is replaced by the
     * window's base.
     */
    static boolean boundsSums(Architecture architecture, MachineFence fence) {
        return fence.mask() != 0 || !architecture.addsLowWords();
    }

    /** Returns whether it changes a general register. */
    boolean isOfRegister() {
        return switch (this) {
            case NONE, LOWER_BOUND, UPPER_BOUND -> false;
            default -> true;
        };
    }

    /** The uniform register of a {@link #RAISE} or {@link #LOWER}. */
    static int bound(long low) {
        return (int) (low >>> 32) & 0x3f;
    }

    /** The high word that a {@link #LOWER_BOUND} or {@link #UPPER_BOUND} subtracts. */
    static int subtracted(long low) {
        return (int) (low >>> 24) & 0x3f;
    }

    private static FenceStep move(long low, long rest, MachineFence fence, int baseRegister) {
        boolean base = (low & 0xff000000L) == 0 && rest == MOV_ALL_BYTES && InstructionWord.immediate(low) == fence.baseHigh() && fence.mask() == 0;
        return base && mayBeFenced(InstructionWord.destination(low), baseRegister) ? MOVE : NONE;
    }

    private static boolean mayBeFenced(int register, int baseRegister) {
        return register != InstructionWord.ZERO_REGISTER && register != baseRegister;
    }

    private static FenceStep logic(long low, long rest, MachineFence fence, int baseRegister) {
        int register = InstructionWord.destination(low);
        int immediate = InstructionWord.immediate(low);
        int third = (int) rest & 0xff;
        int table = (int) (rest >>> 8) & 0xff;
        if (InstructionWord.source(low) != register || rest != (LOP3 | third | (long) table << 8) || !mayBeFenced(register, baseRegister)) {
            return NONE;
        }
        boolean alone = third == InstructionWord.ZERO_REGISTER;
        if (table == OR_TABLE && alone && immediate == fence.baseHigh()) {
            return OR;
        }
        if (table == AND_TABLE && alone && immediate == (fence.baseHigh() | fence.mask())) {
            return AND;
        }
        return table == AND_OR_TABLE && third == baseRegister && !alone && immediate == fence.mask() ? AND_OR : NONE;
    }

    private static FenceStep difference(long low, long rest, MachineFence fence) {
        boolean plain = (low & 0xc0c0f000L) == 0x7000 && rest == DIFFERENCE_HIGH;
        if (!plain) {
            return NONE;
        }
        int immediate = InstructionWord.immediate(low);
        return immediate == fence.baseHigh() - 1 ? LOWER_BOUND : immediate == fence.baseHigh() + fence.mask() ? UPPER_BOUND : NONE;
    }

    private static FenceStep limit(Architecture architecture, long low, long rest, int baseRegister) {
        int register = InstructionWord.destination(low);
        boolean plain = (low >>> 38) == 0 && InstructionWord.source(low) == register && mayBeFenced(register, baseRegister);
        return !plain ? NONE : rest == architecture.limitHigh(true) ? RAISE : rest == architecture.limitHigh(false) ? LOWER : NONE;
    }
}
