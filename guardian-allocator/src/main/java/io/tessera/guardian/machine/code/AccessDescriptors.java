package io.tessera.guardian.machine.code;

import java.util.Arrays;

/**
 * Descriptors of accesses to global memory, {@code desc[UR]}: cache policies of 64 bits, in a pair of uniform registers. The driver keeps one in
 * constant bank 0. A descriptor that is computed from data may end the context (error 715).
 *
 * <p>Diverged threads of a warp share uniform registers. Therefore the paths of one thread do not determine the contents of a pair. A pair counts as
 * the driver's descriptor if nothing else is ever written to it, in a kernel that calls no functions of other sections:
 * <ul>
 * <li>No instruction of the section writes the pair or a half of it but {@code ULDC.64} of the driver's descriptor.
 * <li>One of these, without a predicate, is at the section's start, which every thread goes through: no branch leads into it, and none leads away
 * before its end. What uniform registers held before the kernel began is of others.
 * <li>From there to the access pass as many cycles as compilers leave.
 * </ul> That no other code enters the section, and that constant bank 0 is as the driver fills it, is for the caller to know. Immutable once made.
 */
public final class AccessDescriptors {
    private static final long ULDC = 0x7ab9;
    /** 64 bits, in bits 73 to 75; the rest of the second word is control bits. */
    private static final int WIDE = 5;
    private static final int SIZE = 9;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    private static final long DESTINATION = 0x3fL << 16;
    private static final int OFFSET = 38;
    /** Cycles that ptxas leaves at least between {@code ULDC} and an access (MACHINE.md, Architectures). */
    private static final int LEAST_STALL = 2;
    private static final int NEVER = Integer.MAX_VALUE;

    private final SectionFlow flow;
    /** Indexed by the lower register of a pair: the first instruction that may use it as the driver's descriptor. */
    private final int[] from = new int[InstructionWord.ZERO_UNIFORM + 1];

    /**
     * Creates the descriptors of one section.
     *
     * @param kernel whether threads begin only at its start; otherwise, no descriptor counts as the driver's
     */
    public AccessDescriptors(SectionFlow flow, boolean kernel) {
        this.flow = flow;
        Arrays.fill(from, NEVER);
        if (kernel) {
            readStart();
            forgetWritten();
        }
    }

    /** Returns whether an instruction accesses global memory with a descriptor. */
    public static boolean has(SectionFlow flow, int at) {
        return flow.operation(at).kind() == Kind.GLOBAL && form(flow, at).hasDescriptor(flow.high(at));
    }

    /** Returns whether an access with a descriptor is shown to use the driver's. */
    public boolean isDrivers(int at) {
        return from[form(flow, at).uniform(flow.low(at), flow.high(at))] <= at;
    }

    private static GlobalForm form(SectionFlow flow, int at) {
        return GlobalForm.of(InstructionWord.key(flow.low(at), flow.high(at)));
    }

    private void readStart() {
        int end = 1;
        while (end < flow.count() && flow.isOnlyFollowing(end) && goesOn(end - 1)) {
            end++;
        }
        for (int i = 0; i < end; i++) {
            int uniform = InstructionWord.uniformDestination(flow.low(i));
            if (loadsDrivers(i) && from[uniform] == NEVER) {
                from[uniform] = ready(i, end);
            }
        }
    }

    /** Returns whether all threads that do not end at an instruction continue after it. */
    private boolean goesOn(int at) {
        Kind kind = flow.operation(at).kind();
        return !SectionFlow.endsBlock(kind) || kind == Kind.EXIT && flow.fallsThrough(at);
    }

    /** The first instruction behind a load that may take its result; {@link #NEVER}: the start ends before. */
    private int ready(int load, int end) {
        int cycles = 0;
        int at = load;
        while (at < end && cycles < LEAST_STALL) {
            cycles += InstructionWord.cycles(flow.high(at));
            at++;
        }
        return cycles < LEAST_STALL ? NEVER : at;
    }

    private void forgetWritten() {
        for (int i = 0; i < flow.count(); i++) {
            MachineOpcode operation = flow.operation(i);
            if (operation.kind() == Kind.CALL_SYMBOL || operation.kind() == Kind.CALL_REGISTER) {
                Arrays.fill(from, NEVER);
            } else if (operation.uniforms() > 0 && !loadsDrivers(i)) {
                int first = InstructionWord.uniformDestination(flow.low(i));
                int last = first + (isNarrowLoad(i) ? 1 : operation.uniforms()) - 1;
                Arrays.fill(from, first & ~1, Math.min(last | 1, InstructionWord.ZERO_UNIFORM) + 1, NEVER);
            }
        }
    }

    /** {@code ULDC} of 32 bits or fewer writes one register. */
    private boolean isNarrowLoad(int at) {
        return "ULDC".equals(flow.operation(at).name()) && (flow.high(at) >>> SIZE & 7) < WIDE;
    }

    private boolean loadsDrivers(int at) {
        long low = flow.low(at);
        int uniform = InstructionWord.uniformDestination(low);
        return (low & ~DESTINATION) == (ULDC | (long) flow.architecture().descriptorInBank() << OFFSET)
                && (flow.high(at) & WITHOUT_CONTROL) == (long) WIDE << SIZE && (uniform & 1) == 0
                && uniform < InstructionWord.ZERO_UNIFORM - 1;
    }
}
