package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;

/**
 * Instructions of a look at the stop word, without control bits. In the loop:
 *
 * <pre>
 * {@literal @}!UPd UIADD3 URc, UPd, URc, step, URZ   ; UPd: there was a carry, with a step of 2^22 once in 1,024 rounds
 * BRA.U  UPd, look                  ; a block ends here
 * </pre>
 *
 * and behind the code:
 *
 * <pre>
 * look: UIADD3 URc, UPd, URZ, 0, URZ ; waits for all scoreboards
 *       UMOV URa, low
 *       UMOV URa+1, high
 *       LDG.E.STRONG.SYS R, [RZ.U32+URa]
 *       R2UR URv, R
 *       UISETP.NE UPg, URv, URZ
 *       BRA.U UPg, behind the branch to here
 *       EXIT
 * </pre>
 *
 * R is a register whose contents the code does not need there. Only looks use URa, URa+1, URc, URv, UPd and UPg. URc and UPd are not initialised: any
 * values will do.
 *
 * <p>Diverged threads of a warp share these registers, and the warp may change between them anywhere. Once UPd is set, it stays set until a thread
 * has begun a look, because the sum is not executed meanwhile; the look loads the word after it has cleared UPd. Therefore some thread of the warp
 * looks once in 1,024 rounds of all of them together, and ends if the word is 0. UPg is another predicate, since a sum of other threads between the
 * comparison and its branch would otherwise end threads that were not told to. Stateless.
 */
public final class LookWords {
    /** Instructions of a look behind the code. */
    public static final int COUNT = 8;
    /** Index of the first of the two instructions that move the address of the stop word. */
    public static final int ADDRESS = 1;
    /** Index of the instruction that loads the stop word. */
    public static final int LOAD = 3;
    /** Uniform registers that looks of a section take: the address, the counter, the word. */
    public static final int UNIFORMS = 4;
    /** Minimum amount that an iteration adds to the counter; at most 2^31. */
    public static final int STEP = 1 << 22;
    /** Cycles from the sum to the branch: ptxas leaves nine at least from a comparison of uniform registers. */
    public static final int BEFORE_BRANCH = 12;
    /** Cycles that ptxas leaves at least from a uniform move to an access, twice and more. */
    public static final int BEFORE_LOAD = 8;
    /** Cycles behind {@code R2UR} and behind the comparison: ptxas leaves 13 at least behind the former, 9 behind the latter. */
    public static final int BEFORE_USE = 15;
    static final long MOVE_HIGH = 0;
    static final long LOAD_HIGH = 0x081f4900L;
    static final long TO_UNIFORM_HIGH = 0x000e0000L;
    static final long EXIT = 0x794d;
    static final long EXIT_HIGH = 0x03800000L;
    private static final long ALWAYS = InstructionWord.predicateBits(InstructionWord.ALWAYS);
    /** Negates the predicate of an instruction. */
    private static final int NOT = 8;
    private static final long NO_PREDICATE = 7L << 17;

    private LookWords() {
    }

    /** The uniform predicates that an instruction may write, as bits; says so of some that write none. */
    public static int predicates(MachineOpcode operation, long high) {
        return PredicateFields.uniforms(operation, high);
    }

    /** {@code @!UPd UIADD3 URc, UPd, URc, step, URZ}. */
    public static long add(int counter, int step, int due) {
        return 0x890 | InstructionWord.predicateBits(due | NOT) | (long) counter << 16 | (long) counter << 24 | Integer.toUnsignedLong(step) << 32;
    }

    /** {@code UIADD3 URc, UPd, URZ, 0, URZ}, with the second word of {@link #addHigh}. */
    public static long clear(int counter) {
        return 0x890 | ALWAYS | (long) counter << 16 | (long) InstructionWord.ZERO_UNIFORM << 24;
    }

    /** Its second word. */
    public static long addHigh(int predicate) {
        return 0x0fffe03fL & ~NO_PREDICATE | (long) predicate << 17;
    }

    /** {@code BRA.U UP} without its distance. */
    public static long branch(int predicate) {
        return 0x547 | ALWAYS | (long) predicate << 24 | 1L << 32;
    }

    /** Its second word. */
    public static long branchHigh() {
        return 0x0b800000L;
    }

    /** {@code UMOV UR, value}. */
    public static long move(int uniform, int value) {
        return 0x882 | ALWAYS | (long) uniform << 16 | (long) value << 32;
    }

    /** {@code LDG.E.STRONG.SYS R, [RZ.U32+URa]}. */
    public static long load(int register, int address) {
        return 0x981 | ALWAYS | (long) register << 16 | (long) InstructionWord.ZERO_REGISTER << 24 | (long) address << 32;
    }

    /** {@code R2UR UR, R}. */
    public static long toUniform(int uniform, int register) {
        return 0x2ca | ALWAYS | (long) uniform << 16 | (long) register << 24;
    }

    /** {@code UISETP.NE.AND UPg, UPT, UR, URZ, UPT}. */
    public static long compare(int uniform) {
        return 0x28c | ALWAYS | (long) uniform << 24 | (long) InstructionWord.ZERO_UNIFORM << 32;
    }

    /** Its second word. */
    public static long compareHigh(int predicate) {
        return 0x0bf05270L & ~NO_PREDICATE | (long) predicate << 17;
    }

    /** The words of an instruction behind the code by its place there: first and second ones by turns; the branch without its distance. */
    public static long[] behind(long address, int register, LookRegisters registers) {
        int uniforms = registers.uniforms();
        return new long[] {clear(registers.counter()), addHigh(registers.due()), move(uniforms, (int) address), MOVE_HIGH,
                move(uniforms + 1, (int) (address >>> 32)), MOVE_HIGH, load(register, uniforms), LOAD_HIGH, toUniform(registers.word(), register),
                TO_UNIFORM_HIGH, compare(registers.word()), compareHigh(registers.goesOn()), branch(registers.goesOn()), branchHigh(), EXIT,
                EXIT_HIGH};
    }
}
