package io.tessera.guardian.machine.code;

/**
 * The word of a constant bank that an instruction reads: a load ({@code LDC}, {@code ULDC}), or arithmetic with a constant in place of its second or third operand, which code before sm_90
 * prefers. Bytes in bits 38 to 53, the bank in bits 54 to 58. Stateless.
 */
public final class ConstantOperand {
    /** No operand is a constant. */
    public static final int NONE = -1;
    private static final int LAST_ARITHMETIC = 0x120;
    private static final int UNIFORM_OPERAND = 0x1000;

    private ConstantOperand() {
    }

    /** The bank; {@link #NONE}: the instruction reads no constant. */
    public static int bank(long low, long high) {
        return reads(InstructionWord.key(low, high)) ? (int) (low >>> 54) & 0x1f : NONE;
    }

    /** The offset in it, in bytes, if {@link #bank} has one; of a load by a register it is added to that. */
    public static int offset(long low) {
        return (int) (low >>> 38) & 0xffff;
    }

    /** Returns whether a register is added to the offset. */
    public static boolean isIndexed(long low) {
        return switch ((int) low & 0xfff) {
            case 0xb82 -> InstructionWord.source(low) != InstructionWord.ZERO_REGISTER;
            case 0xabb -> true;
            default -> false;
        };
    }

    private static boolean reads(int key) {
        int opcode = key & 0xfff;
        if (opcode == 0xb82 || opcode == 0xab9 || opcode == 0xabb) {
            return true;
        }
        int form = opcode >>> 9;
        return (key & UNIFORM_OPERAND) == 0 && (form == 3 || form == 5) && (opcode & 0x1ff) < LAST_ARITHMETIC;
    }
}
