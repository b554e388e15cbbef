package io.tessera.guardian.machine;

import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.Arrays;
import java.util.BitSet;

/** Code for tests, instruction by instruction, in the words that ptxas writes for sm_90. Places are numbers of instructions. One owner thread. */
public final class CodeWords {
    /** {@code EXIT} with control bits, without a predicate. */
    public static final long EXIT = 0x794d;
    private static final long ALWAYS = 7L << 12;
    private static final long CONTROL = 0x000fe20000000000L;
    private final Architecture architecture;
    private long[] words = new long[0];

    /** Creates empty code for sm_90. */
    public CodeWords() {
        this(Architecture.SM_90);
    }

    /** Creates empty code. Branches differ by architecture; {@link #add} takes all other instructions. */
    public CodeWords(Architecture architecture) {
        this.architecture = architecture;
    }

    /** Appends an instruction with its two words. */
    public CodeWords add(long low, long high) {
        words = Arrays.copyOf(words, words.length + 2);
        words[words.length - 2] = low;
        words[words.length - 1] = high;
        return this;
    }

    /** The control bits that a fence must have: eight cycles before the next instruction. */
    private static long stalled(long high) {
        return high & ~(0xfL << 41) | 8L << 41;
    }

    /** Puts the last instruction under a predicate: 0 to 6, with 8 added where it is negated. */
    public CodeWords under(int predicate) {
        int last = words.length - 2;
        words[last] = words[last] & ~0xf000L | (long) predicate << 12;
        return this;
    }

    /** Has the last instruction wait for scoreboards, and the one before it take so long, if it has one of them, that this is seen. */
    public CodeWords waiting(int scoreboards) {
        int before = words.length - 3;
        if (before > 0 && (InstructionWord.scoreboards(words[before]) & scoreboards) != 0
                && InstructionWord.stall(words[before]) < InstructionWord.SCOREBOARD_CYCLES) {
            words[before] = words[before] & ~(0xfL << 41) | (long) InstructionWord.SCOREBOARD_CYCLES << 41;
        }
        return waitingAtOnce(scoreboards);
    }

    /** Has the last instruction wait for scoreboards, also for those of one that was issued in the cycle before. */
    public CodeWords waitingAtOnce(int scoreboards) {
        words[words.length - 1] = words[words.length - 1] & ~(0x3fL << 52) | (long) scoreboards << 52;
        return this;
    }

    /** Has the next instruction wait for this many cycles behind the last one. */
    public CodeWords stalling(int cycles) {
        words[words.length - 1] = words[words.length - 1] & ~(0xfL << 41) | (long) cycles << 41;
        return this;
    }

    /** Has the last instruction release a scoreboard when it has read its sources. */
    public CodeWords reading(int scoreboard) {
        words[words.length - 1] = words[words.length - 1] & ~(7L << 49) | (long) scoreboard << 49;
        return this;
    }

    /** Marks operands of the last instruction for the next one. */
    public CodeWords reusing(int operands) {
        words[words.length - 1] |= (long) operands << 58;
        return this;
    }

    /** {@code ULDC.64 UR, c[0x0][...]}: the driver's descriptor. */
    public CodeWords loadDescriptor(int uniform) {
        return loadConstant(uniform, architecture.descriptorInBank(), 5);
    }

    /** {@code ULDC UR, c[0x0][offset]}, of a size: 4 for 32 bits, 5 for 64. */
    public CodeWords loadConstant(int uniform, int offset, int size) {
        return add(0xab9L | ALWAYS | (long) uniform << 16 | (long) offset << 38, stalled(CONTROL) | (long) size << 9);
    }

    /** {@code LDG.E Rd, [Ra.64]}. */
    public CodeWords load(int destination, int address) {
        return loadBySum(destination, address, InstructionWord.ZERO_UNIFORM);
    }

    /** {@code LDG.E.64 Rd, [Ra.64]}. */
    public CodeWords loadPair(int destination, int address) {
        return add(0x0000003f00000981L | ALWAYS | (long) destination << 16 | (long) address << 24, 0x000ea2000c1e0b00L);
    }

    /** {@code LDG.E Rd, desc[UR][Ra.64]}. */
    public CodeWords loadByDescriptor(int destination, int address, int uniform) {
        return add(0x0000000000000981L | ALWAYS | (long) destination << 16 | (long) address << 24 | (long) uniform << 32, 0x000ea2000c1e1900L);
    }

    /** {@code LDG.E Rd, [Ra.U32+UR]}: the access of a window of 4 GiB. */
    public CodeWords loadByBase(int destination, int address, int uniform) {
        return add(0x0000000000000981L | ALWAYS | (long) destination << 16 | (long) address << 24 | (long) uniform << 32, 0x000ea200081e0900L);
    }

    /** {@code LDG.E Rd, [Ra.64+UR]}: the sum of two registers of 64 bits. */
    public CodeWords loadBySum(int destination, int address, int uniform) {
        return add(0x0000000000000981L | ALWAYS | (long) destination << 16 | (long) address << 24 | (long) uniform << 32, 0x000ea2000c1e0900L);
    }

    /** {@code STG.E [Ra.64], Rb}. */
    public CodeWords store(int address, int value) {
        return add(0x986L | ALWAYS | (long) address << 24 | (long) value << 32, 0x000fe2000c10093fL);
    }

    /** {@code STG.E desc[UR][Ra.64], Rb}. */
    public CodeWords storeByDescriptor(int address, int value, int uniform) {
        return add(0x986L | ALWAYS | (long) address << 24 | (long) value << 32, 0x000fe2000c101900L | uniform);
    }

    /** {@code ATOMG.E.CAS.STRONG.GPU PT, Rd, [Ra], Rb, Rc}: an access without a uniform register. */
    public CodeWords compareAndSwap(int destination, int address, int expected, int value) {
        return add(0x3a9L | ALWAYS | (long) destination << 16 | (long) address << 24 | (long) expected << 32, 0x000ea200001ee100L | value);
    }

    /** {@code MOV Rd, value}. */
    public CodeWords move(int register, int value) {
        return add(0x802L | ALWAYS | (long) register << 16 | (long) value << 32, stalled(0x000fe20000000f00L));
    }

    /** {@code LOP3.LUT Rd, Ra, immediate, Rc, table, !PT}. */
    public CodeWords logic(int register, int source, int immediate, int third, int table) {
        return add(0x812L | ALWAYS | (long) register << 16 | (long) source << 24 | (long) immediate << 32,
                stalled(0x000fe200078e0000L) | third | (long) table << 8);
    }

    /** {@code IADD3 Rd, Ra, Rb, RZ}. */
    public CodeWords sum(int register, int first, int second) {
        return add(0x210L | ALWAYS | (long) register << 16 | (long) first << 24 | (long) second << 32, 0x000fe20007ffe0ffL);
    }

    /** {@code IMAD.WIDE Rd, Ra, Rb, Rc}: writes Rd and Rd+1. */
    public CodeWords wideProduct(int register, int first, int second, int third) {
        return add(0x225L | ALWAYS | (long) register << 16 | (long) first << 24 | (long) second << 32, 0x000fe200078e0200L | third);
    }

    /** {@code ISETP.GE.AND P, PT, Ra, Rb, PT}. */
    public CodeWords compare(int predicate, int first, int second) {
        return add(0x20cL | ALWAYS | (long) first << 24 | (long) second << 32, 0x000fda0003f06270L & ~(7L << 17) | (long) predicate << 17);
    }

    /** {@code UMOV URd, value}. */
    public CodeWords moveUniform(int uniform, int value) {
        return add(0x882L | ALWAYS | (long) uniform << 16 | (long) value << 32, stalled(CONTROL));
    }

    /** {@code UIADD3 URd, -URa, value, URZ}. */
    public CodeWords differenceUniform(int uniform, int value, int subtracted) {
        return add(0x890L | ALWAYS | (long) uniform << 16 | (long) subtracted << 24 | (long) value << 32, stalled(0x000fe2000fffe13fL));
    }

    /** {@code ULOP3.LUT URd, URa, value, URZ, table, !UPT}. */
    public CodeWords logicUniform(int uniform, int source, int value, int table) {
        return add(0x892L | ALWAYS | (long) uniform << 16 | (long) source << 24 | (long) value << 32,
                stalled(0x000fe2000f8e003fL) | (long) table << 8);
    }

    /** {@code VIMNMX Rd, Ra, URb, !PT}: the greater one of two signed numbers. */
    public CodeWords greatest(int register, int source, int uniform) {
        return add(0xc48L | ALWAYS | (long) register << 16 | (long) source << 24 | (long) uniform << 32, stalled(0x000fe2000ffe0100L));
    }

    /** {@code VIMNMX Rd, Ra, URb, PT}: the least one of two signed numbers. */
    public CodeWords least(int register, int source, int uniform) {
        return add(0xc48L | ALWAYS | (long) register << 16 | (long) source << 24 | (long) uniform << 32, stalled(0x000fe2000bfe0100L));
    }

    /** {@code VIMNMX Rd, P, P2, Ra, Rb, !PT}: the greater one of two signed numbers, and two predicates. */
    public CodeWords greatest(int register, int predicate, int second, int source, int other) {
        return add(0x248L | ALWAYS | (long) register << 16 | (long) source << 24 | (long) other << 32,
                0x000fe20007800100L | (long) predicate << 17 | (long) second << 20);
    }

    /** {@code FFMA Rd, Ra, Rb, Rc}. */
    public CodeWords product(int register, int first, int second, int third) {
        return add(0x223L | ALWAYS | (long) register << 16 | (long) first << 24 | (long) second << 32, 0x000fe20000000000L | third);
    }

    /** {@code R2UR URd, Ra}. */
    public CodeWords toUniform(int uniform, int source) {
        return add(0x2caL | ALWAYS | (long) uniform << 16 | (long) source << 24, 0x000fe200000e0000L);
    }

    /** {@code NOP}. */
    public CodeWords nothing() {
        return add(0x918L | ALWAYS, 0x000fc00000000000L);
    }

    /** {@code EXIT}. */
    public CodeWords exit() {
        return add(EXIT, 0x000fea0003800000L);
    }

    /** {@code BRA} to a place. */
    public CodeWords branch(int place) {
        return jump(0x947, 0x000fea0003800000L, place);
    }

    /** {@code CALL.REL.NOINC} to a place. */
    public CodeWords call(int place) {
        return jump(0x944, 0x000fea0003c00000L, place);
    }

    /** {@code CALL.ABS.NOINC} of a function that a relocation names. */
    public CodeWords callSymbol() {
        return add(0x943L | ALWAYS, 0x000fea0003c00000L);
    }

    /** {@code RET.REL.NODEC Ra} with the section's start as the base. */
    public CodeWords returnBy(int register) {
        jump(0x950, 0x000fea0003c00000L, 0);
        words[words.length - 2] |= (long) register << 24;
        return this;
    }

    /** {@code BRX Ra} with the section's start as the base. */
    public CodeWords branchByTable(int register) {
        jump(0x949, 0x000fea0003800000L, 0);
        words[words.length - 2] |= (long) register << 24;
        return this;
    }

    /** {@code BSSY B, place}. */
    public CodeWords meeting(int barrier, int place) {
        long distance = (long) (place - count() - 1) * InstructionWord.BYTES;
        return add(0x945L | ALWAYS | (long) barrier << 16 | distance << 32, 0x000fe20003800000L | distance >>> 32 & 0x3ffff);
    }

    /** {@code BSYNC B}. */
    public CodeWords meet(int barrier) {
        return add(0x941L | ALWAYS | (long) barrier << 16, 0x000fea0003800000L);
    }

    private CodeWords jump(long opcode, long high, int place) {
        long distance = (long) (place - count() - 1) * InstructionWord.BYTES;
        return add(architecture.withDistanceLow(opcode | ALWAYS, distance), architecture.withDistanceHigh(high, distance));
    }

    /** Returns the number of instructions. */
    public int count() {
        return words.length / 2;
    }

    /** Two words for each instruction. */
    public long[] words() {
        return words.clone();
    }

    /** The ways through it, with places that are entered from elsewhere. */
    public SectionFlow flow(int... entered) throws MachineCodeException {
        BitSet places = new BitSet();
        Arrays.stream(entered).forEach(places::set);
        return SectionFlow.of(architecture, words, places);
    }
}
