package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.ConstantOperand;
import io.tessera.guardian.machine.code.ImmediateResult;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.Arrays;

/**
 * The arguments of a call of {@code __assertfail}, as far as the block of the call determines them: the texts are words of constant bank 4, the line
 * is a number. Compilers put such a call into a block of its own, together with all its arguments. Anything else counts as unknown. One owner thread.
 */
final class AssertionArguments {
    /** The bank whose words a loader fills with addresses. */
    private static final int BANK = 4;
    /** Registers by the calling convention: pointers to message, file and function are pairs. */
    private static final int MESSAGE = 4;
    private static final int FILE = 6;
    private static final int LINE = 8;
    private static final int FUNCTION = 10;
    private static final long UNKNOWN = -1;
    /** Marks the offset of a word of the bank; numbers are below it. */
    private static final long IN_BANK = 1L << 40;
    private static final int REGISTERS = 256;
    private static final int UNIFORMS = 64;
    private static final int WORD = Integer.BYTES;

    private final long[] registers = new long[REGISTERS];
    private final long[] uniforms = new long[UNIFORMS];

    private AssertionArguments() {
        Arrays.fill(registers, UNKNOWN);
        Arrays.fill(uniforms, UNKNOWN);
    }

    /**
     * The arguments of a failed assertion.
     *
     * @param message  offset in constant bank 4 of the pointer to it; so for file and function
     * @param line     in the file
     */
    record Found(int message, int file, int line, int function) {
    }

    /** Those of a call; null: the block of the call does not say them. */
    static Found of(SectionFlow flow, int call) {
        int begin = call;
        while (begin > 0 && !flow.isLeader(begin)) {
            begin--;
        }
        AssertionArguments known = new AssertionArguments();
        for (int i = begin; i < call; i++) {
            known.step(flow.low(i), flow.high(i), flow.operation(i));
        }
        return known.found();
    }

    private Found found() {
        int message = pointer(MESSAGE);
        int file = pointer(FILE);
        int function = pointer(FUNCTION);
        long line = registers[LINE];
        return message < 0 || file < 0 || function < 0 || line < 0 || line > Integer.MAX_VALUE ? null
                : new Found(message, file, (int) line, function);
    }

    /** The offset of the word of 64 bits that a pair of registers has; negative: none. */
    private int pointer(int low) {
        long value = registers[low];
        return value >= IN_BANK && registers[low + 1] == value + WORD ? (int) (value - IN_BANK) : -1;
    }

    private void step(long low, long high, MachineOpcode operation) {
        long value = InstructionWord.predicate(low) == InstructionWord.ALWAYS ? value(low, high) : UNKNOWN;
        for (int i = 0; i < REGISTERS - 1; i++) {
            if (operation.writes(low, i)) {
                registers[i] = part(value, i - InstructionWord.destination(low));
            }
        }
        for (int i = 0; i < UNIFORMS - 1; i++) {
            if (operation.writesUniform(low, i)) {
                uniforms[i] = part(value, i - InstructionWord.uniformDestination(low));
            }
        }
    }

    private static long part(long value, int register) {
        return register == 0 ? value : register == 1 && value >= IN_BANK ? value + WORD : UNKNOWN;
    }

    /** Returns the value that an instruction writes to its first register. */
    private long value(long low, long high) {
        int second = InstructionWord.operand(low, high, 1);
        boolean onlyThird = InstructionWord.source(low) == InstructionWord.ZERO_REGISTER;
        long immediate = ImmediateResult.of(low, high);
        if (immediate != ImmediateResult.NONE) {
            return immediate;
        }
        return switch ((int) low & 0xfff) {
            case 0x202 -> register(second);
            case 0xc02, 0xc82 -> uniform(second);
            case 0xa02, 0xb82, 0xab9 -> constant(low, high); // MOV, LDC, ULDC
            case 0x224 -> onlyThird ? register((int) high & 0xff) : UNKNOWN;
            case 0x624 -> onlyThird ? constant(low, high) : UNKNOWN;
            case 0xe24 -> onlyThird ? uniform(second) : UNKNOWN; // IMAD.U32
            default -> UNKNOWN;
        };
    }

    private long register(int number) {
        return number == InstructionWord.ZERO_REGISTER ? 0 : registers[number];
    }

    private long uniform(int number) {
        return number >= InstructionWord.ZERO_UNIFORM ? UNKNOWN : uniforms[number];
    }

    private static long constant(long low, long high) {
        return ConstantOperand.bank(low, high) == BANK && !ConstantOperand.isIndexed(low) ? IN_BANK + ConstantOperand.offset(low) : UNKNOWN;
    }
}
