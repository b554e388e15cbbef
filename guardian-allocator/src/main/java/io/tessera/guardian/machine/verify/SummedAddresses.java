package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;

/**
 * Fences of accesses that add a pair of uniform registers to their address: under {@link MachineFence.Kind#MASK}, and before sm_90 under every kind of
 * fence. Immutable.
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
 * R.hi + UR.hi is then between base-1 and base+mask. This holds even if the lower bound is above the upper one: the result is then the upper one. With
 * the carry of the low words and the immediate, the address is less than 5 GiB outside the window, in a guard band. An address in the window is not
 * changed by either step, with a carry or without. The bounds hold until UR.hi or one of them is written, on all paths through the code ({@link
 * UniformBounds}). The two VIMNMX are in the block of the access, before it, and nothing writes R.hi, UR.hi or the predicate between them and the
 * access ({@link FencedRegisters}).
 *
 * <p>{@code [UR.64+imm]}, before sm_90 {@code [RZ.64+UR.64+imm]}: the access uses a copy of UR, whose high word is forced into the window by OR and AND.
 * These are the two instructions directly before the access, and no branch leads to the second one or to the access.
 */
public final class SummedAddresses {
    /** Minimum number of cycles that ptxas leaves between a computation and a use of its result, for results in uniform registers. */
    private static final int LEAST_UNIFORM_STALL = 6;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    private static final int COPY = 2;

    private final SectionFlow flow;
    private final MachineFence fence;

    /** Creates the checks of a section. */
    SummedAddresses(SectionFlow flow, MachineFence fence) {
        this.flow = flow;
        this.fence = fence;
    }

    /** Returns whether an instruction accesses global memory at an address to which it adds a uniform register. */
    public static boolean adds(SectionFlow flow, int at) {
        long low = flow.low(at);
        long high = flow.high(at);
        return flow.operation(at).kind() == Kind.GLOBAL && !GlobalForm.of(InstructionWord.key(low, high)).hasDescriptor(high)
                && !GlobalForm.of(InstructionWord.key(low, high)).isPlain(low, high);
    }

    /**
     * Returns whether an access that adds a uniform register declares that its general register has 64 bits; before sm_90, this includes {@code
     * [RZ.64+UR.64]}.
     */
    public static boolean isWide(boolean absolute, Architecture architecture) {
        return !absolute || !architecture.addsLowWords();
    }

    /** Returns whether such an access also has an address register. */
    public static boolean hasRegister(SectionFlow flow, int at) {
        boolean wide = GlobalForm.of(InstructionWord.key(flow.low(at), flow.high(at))).isWide(flow.high(at));
        return flow.architecture().addsLowWords() ? wide : InstructionWord.source(flow.low(at)) != InstructionWord.ZERO_REGISTER;
    }

    /** Returns the lower of the two uniform registers that such an access adds. */
    public static int added(SectionFlow flow, int at) {
        return GlobalForm.of(InstructionWord.key(flow.low(at), flow.high(at))).uniform(flow.low(at), flow.high(at));
    }

    /** Returns whether such an access is preceded by its fence, as far as {@link FencedRegisters} show. */
    boolean isFenced(FencedRegisters known, int at) {
        long low = flow.low(at);
        int uniform = added(flow, at);
        int register = InstructionWord.source(low);
        if (!FenceStep.boundsSums(flow.architecture(), fence) || (uniform & 1) != 0 || uniform + 1 >= InstructionWord.ZERO_UNIFORM) {
            return false;
        }
        boolean absolute = !hasRegister(flow, at);
        if (GlobalForm.of(InstructionWord.key(low, flow.high(at))).isWide(flow.high(at)) != isWide(absolute, flow.architecture())) {
            return false;
        }
        if (absolute) {
            return register == InstructionWord.ZERO_REGISTER && at > COPY - 1 && !flow.isLeader(at) && !flow.isLeader(at - 1)
                    && isForced(at, uniform + 1);
        }
        return (register & 1) == 0 && register + 1 < InstructionWord.ZERO_REGISTER
                && known.isLimited(register + 1, uniform + 1, InstructionWord.predicate(low));
    }

    private boolean isForced(int at, int uniform) {
        long operands = FenceStep.UNIFORM_LOGIC | (long) uniform << 16;
        return (flow.low(at - 2) & 0xc0ffffffL) == operands && InstructionWord.immediate(flow.low(at - 2)) == fence.baseHigh()
                && isWord(at - 2, flow.low(at - 2), FenceStep.UNIFORM_OR_HIGH, LEAST_UNIFORM_STALL)
                && isWord(at - 1, word(operands | (long) uniform << 24, fence.baseHigh() | fence.mask()), FenceStep.UNIFORM_AND_HIGH,
                        flow.architecture().uniformBeforeAccess());
    }

    private static long word(long operands, int immediate) {
        return operands | (long) immediate << 32;
    }

    private boolean isWord(int at, long low, long high, int stall) {
        return flow.low(at) == low && (flow.high(at) & WITHOUT_CONTROL) == high && InstructionWord.cycles(flow.high(at)) >= stall
                && !InstructionWord.reuses(flow.high(at));
    }
}
