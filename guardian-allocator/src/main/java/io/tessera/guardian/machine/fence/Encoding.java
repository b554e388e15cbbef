package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.verify.ReportSequence;

/** Instructions that fences consist of, as ptxas encodes them. Stateless. */
final class Encoding {
    /** Cycles from a computation to a memory access that takes its result as an address: the least that ptxas uses. */
    static final int BEFORE_ACCESS = 5;
    /** As above, for results in uniform registers. */
    static final int UNIFORM_BEFORE_ACCESS = 6;
    /** Longest stall of an instruction whose control bits do not keep the warp. */
    private static final int MOST_STALL = 15;
    private static final long NO_OPERATION = 0x7918;
    /** Cycles from one instruction on uniform registers, or one that compares or selects bits, to another that does not take its result. */
    static final int APART = 2;
    private static final int OR = 0xfc;
    private static final int AND = 0xc0;
    private static final int AND_OR = 0xea;
    private static final long ALWAYS = InstructionWord.predicateBits(InstructionWord.ALWAYS);

    private Encoding() {
    }

    /** Appends {@code MOV register, value}. */
    static void move(CodeBuilder out, int register, int value, int predicate, int stall, int waits) {
        out.add(0x802 | InstructionWord.predicateBits(predicate) | (long) register << 16 | (long) value << 32,
                0xf00 | InstructionWord.control(stall, waits));
    }

    /** Appends what takes this many cycles. */
    static void delay(CodeBuilder out, int cycles) {
        for (int left = cycles; left > 0; left -= MOST_STALL) {
            out.add(NO_OPERATION, InstructionWord.control(Math.min(left, MOST_STALL), 0));
        }
    }

    /** Appends {@code register |= value}. */
    static void or(CodeBuilder out, int register, int value, int predicate, int stall, int waits) {
        logic(out, register, value, InstructionWord.ZERO_REGISTER, OR, predicate, stall, waits);
    }

    /** Appends {@code register &= value}. */
    static void and(CodeBuilder out, int register, int value, int predicate, int stall, int waits) {
        logic(out, register, value, InstructionWord.ZERO_REGISTER, AND, predicate, stall, waits);
    }

    /** Appends {@code register = register & value | other}. */
    static void andOr(CodeBuilder out, int register, int value, int other, int predicate, int stall, int waits) {
        logic(out, register, value, other, AND_OR, predicate, stall, waits);
    }

    private static void logic(CodeBuilder out, int register, int value, int third, int table, int predicate, int stall, int waits) {
        out.add(0x812 | InstructionWord.predicateBits(predicate) | (long) register << 16 | (long) register << 24 | (long) value << 32,
                0x078e0000L | third | (long) table << 8 | InstructionWord.control(stall, waits));
    }

    /** Appends {@code UMOV uniform, value}. */
    static void moveUniform(CodeBuilder out, int uniform, int value, int stall) {
        out.add(0x882 | ALWAYS | (long) uniform << 16 | (long) value << 32, InstructionWord.control(stall, 0));
    }

    /** Appends {@code UMOV uniform, source}. */
    static void copyUniform(CodeBuilder out, int uniform, int source, int waits) {
        out.add(0xc82 | ALWAYS | (long) uniform << 16 | (long) source << 32, 0x08000000L | InstructionWord.control(UNIFORM_BEFORE_ACCESS, waits));
    }

    /** Appends {@code UIADD3 uniform, -subtracted, value, URZ}. */
    static void differenceUniform(CodeBuilder out, int uniform, int value, int subtracted, int stall, int waits) {
        out.add(0x890 | ALWAYS | (long) uniform << 16 | (long) subtracted << 24 | (long) value << 32,
                0x0fffe13fL | InstructionWord.control(stall, waits));
    }

    /** Appends {@code uniform = source | value}. */
    static void orUniform(CodeBuilder out, int uniform, int source, int value) {
        out.add(0x892 | ALWAYS | (long) uniform << 16 | (long) source << 24 | (long) value << 32,
                0x0f8efc3fL | InstructionWord.control(UNIFORM_BEFORE_ACCESS, 0));
    }

    /** Appends {@code uniform &= value}, before an access by the result. */
    static void andUniform(CodeBuilder out, int uniform, int value, Architecture architecture) {
        out.add(0x892 | ALWAYS | (long) uniform << 16 | (long) uniform << 24 | (long) value << 32,
                0x0f8ec03fL | InstructionWord.control(architecture.uniformBeforeAccess(), 0));
    }

    /** Appends {@code register = max(register, uniform)}, signed. */
    static void atLeast(CodeBuilder out, Architecture architecture, int register, int uniform, int predicate, int stall, int waits) {
        limit(out, architecture.limitLow(), register, uniform, predicate, architecture.limitHigh(true) | InstructionWord.control(stall, waits));
    }

    /** Appends {@code register = min(register, uniform)}, signed. */
    static void atMost(CodeBuilder out, Architecture architecture, int register, int uniform, int predicate, int stall, int waits) {
        limit(out, architecture.limitLow(), register, uniform, predicate, architecture.limitHigh(false) | InstructionWord.control(stall, waits));
    }

    private static void limit(CodeBuilder out, long low, int register, int uniform, int predicate, long high) {
        out.add(low | InstructionWord.predicateBits(predicate) | (long) register << 16 | (long) register << 24 | (long) uniform << 32, high);
    }

    /** Appends an instruction that does nothing, for this many cycles. */
    static void nothing(CodeBuilder out, int stall) {
        out.add(0x918 | ALWAYS, InstructionWord.control(stall, 0));
    }

    /** Appends {@code STG.E [R0.64+URZ], R2} and {@code EXIT}. */
    static void storeAndExit(CodeBuilder out, int predicate) {
        out.add(ReportSequence.STORE | InstructionWord.predicateBits(predicate), ReportSequence.STORE_HIGH | InstructionWord.control(1, 0));
        out.add(ReportSequence.EXIT | InstructionWord.predicateBits(predicate), ReportSequence.EXIT_HIGH | InstructionWord.control(5, 0));
    }
}
