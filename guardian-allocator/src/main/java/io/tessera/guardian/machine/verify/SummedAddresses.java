package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.BitSet;

/**
 * Fences of accesses that add a pair of uniform registers to their address, under {@link MachineFence.Kind#MASK}, and before sm_90 under every fence. A fence is the row of instructions directly before its
 * access; nothing leads into the row. Immutable once made.
 *
 * <p>{@code [R.64+UR.64+imm]}: the high word of R is kept between two bounds, which are taken from the high word of UR:
 *
 * <pre>
 * UIADD3 U, -UR.hi, base-1         ; U and U+1 are any two uniform registers, U even
 * UIADD3 U+1, -UR.hi, base+mask
 * VIMNMX R.hi = max(R.hi, U)       ; signed; both under the predicate of the access; before sm_90 IMNMX
 * VIMNMX R.hi = min(R.hi, U+1)
 * </pre>
 *
 * R.hi + UR.hi is then one of base-1 to base+mask, even where the lower bound is above the upper one: the result is the upper one. With the carry of the low words and the
 * immediate the address is less than 5 GiB outside of the window, in a guard band. For an address in the window both steps change nothing, with a carry and without.
 *
 * <p>{@code [UR.64+imm]}, before sm_90 {@code [RZ.64+UR.64+imm]}: the access takes a copy of UR, whose high word is forced into the window by OR and AND.
 */
public final class SummedAddresses {
    /** Cycles that ptxas leaves at least between a computation and what takes its result, and the same for results in uniform registers. */
    private static final int LEAST_STALL = 5;
    private static final int LEAST_UNIFORM_STALL = 6;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    private static final int CLAMP = 4;
    private static final int COPY = 2;
    /** {@code UIADD3 URd, -URa, imm, URZ}. */
    private static final long DIFFERENCE = 0x7890;
    private static final long DIFFERENCE_HIGH = 0x0fffe13fL;
    /** {@code ULOP3.LUT URd, URa, imm, URZ, table, !UPT}. */
    private static final long LOGIC = 0x7892;
    private static final long OR_HIGH = 0x0f8efc3fL;
    private static final long AND_HIGH = 0x0f8ec03fL;

    private final SectionFlow flow;
    private final MachineFence fence;
    private final BitSet fenced = new BitSet();
    private final BitSet limits = new BitSet();

    /** Looks for fences in a section. */
    SummedAddresses(SectionFlow flow, MachineFence fence) {
        this.flow = flow;
        this.fence = fence;
        for (int i = COPY; i < flow.count(); i++) {
            if (adds(flow, i) && isFencedBefore(i)) {
                fenced.set(i);
            }
        }
    }

    /** Whether an instruction accesses global memory at an address to which it adds a uniform register. */
    public static boolean adds(SectionFlow flow, int at) {
        long low = flow.low(at);
        long high = flow.high(at);
        return flow.operation(at).kind() == Kind.GLOBAL && !GlobalForm.of(InstructionWord.key(low, high)).hasDescriptor(high)
                && !GlobalForm.of(InstructionWord.key(low, high)).isPlain(low, high);
    }

    /** Whether the fences of this class are those of an architecture for a window; else the uniform register of the access is exchanged for the window's base. */
    static boolean isUsed(Architecture architecture, MachineFence fence) {
        return fence.mask() != 0 || !architecture.addsLowWords();
    }

    /** Whether an access that adds a uniform register says that its general register has 64 bits: before sm_90 also {@code [RZ.64+UR.64]} does. */
    public static boolean isWide(boolean absolute, Architecture architecture) {
        return !absolute || !architecture.addsLowWords();
    }

    /** Whether an access has its fence before it; what is in flight there is not looked at. */
    boolean isFenced(int at) {
        return fenced.get(at);
    }

    /** Whether an instruction is one of those that keep an address register between two bounds. */
    boolean isLimit(int at) {
        return limits.get(at);
    }

    private boolean isFencedBefore(int at) {
        if (!isUsed(flow.architecture(), fence)) {
            return false;
        }
        long low = flow.low(at);
        long high = flow.high(at);
        GlobalForm form = GlobalForm.of(InstructionWord.key(low, high));
        int uniform = form.uniform(low, high);
        int register = InstructionWord.source(low);
        if ((uniform & 1) != 0 || uniform + 1 >= InstructionWord.ZERO_UNIFORM) {
            return false;
        }
        boolean absolute = register == InstructionWord.ZERO_REGISTER;
        if (form.isWide(high) != isWide(absolute, flow.architecture())) {
            return false;
        }
        if (absolute) {
            return isStraight(at, COPY) && isForced(at, uniform + 1);
        }
        return (register & 1) == 0 && register + 1 < InstructionWord.ZERO_REGISTER && isStraight(at, CLAMP)
                && isClamped(at, register + 1, uniform + 1, InstructionWord.predicate(low));
    }

    /** Whether nothing leads between the first of some instructions before an access and the access. */
    private boolean isStraight(int at, int count) {
        for (int i = at - count + 1; i <= at; i++) {
            if (i <= 0 || flow.isLeader(i)) {
                return false;
            }
        }
        return true;
    }

    private boolean isForced(int at, int uniform) {
        long operands = LOGIC | (long) uniform << 16;
        return (flow.low(at - 2) & 0xc0ffffffL) == operands && InstructionWord.immediate(flow.low(at - 2)) == fence.baseHigh()
                && isWord(at - 2, flow.low(at - 2), OR_HIGH, LEAST_UNIFORM_STALL)
                && isWord(at - 1, word(operands | (long) uniform << 24, fence.baseHigh() | fence.mask()), AND_HIGH,
                        flow.architecture().uniformBeforeAccess());
    }

    private boolean isClamped(int at, int register, int added, int predicate) {
        int lower = InstructionWord.uniformDestination(flow.low(at - CLAMP));
        int upper = lower + 1;
        if ((lower & 1) != 0 || upper >= InstructionWord.ZERO_UNIFORM || lower == (added & ~1)) {
            return false;
        }
        long operands = flow.architecture().limitLow() | InstructionWord.predicateBits(predicate) | (long) register << 16 | (long) register << 24;
        boolean clamped = isWord(at - 4, word(DIFFERENCE | (long) lower << 16 | (long) added << 24, fence.baseHigh() - 1), DIFFERENCE_HIGH, 0)
                && isWord(at - 3, word(DIFFERENCE | (long) upper << 16 | (long) added << 24, fence.baseHigh() + fence.mask()), DIFFERENCE_HIGH,
                        LEAST_UNIFORM_STALL)
                && isWord(at - 2, operands | (long) lower << 32, flow.architecture().limitHigh(true), LEAST_STALL)
                && isWord(at - 1, operands | (long) upper << 32, flow.architecture().limitHigh(false), LEAST_STALL);
        if (clamped) {
            limits.set(at - 2, at);
        }
        return clamped;
    }

    private static long word(long operands, int immediate) {
        return operands | (long) immediate << 32;
    }

    private boolean isWord(int at, long low, long high, int stall) {
        return flow.low(at) == low && (flow.high(at) & WITHOUT_CONTROL) == high && InstructionWord.cycles(flow.high(at)) >= stall
                && !InstructionWord.reuses(flow.high(at));
    }
}
