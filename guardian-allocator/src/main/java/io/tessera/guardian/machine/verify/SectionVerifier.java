package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.AccessDescriptors;
import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.look.Looks;
import java.util.Set;

/**
 * Verifies that the code of one section accesses global memory only in the window. It does not rely on the rewriter: it finds the registers that keep
 * the base from the instructions at the section's start. One owner thread.
 */
final class SectionVerifier {
    private static final long UMOV_IMMEDIATE = 0x7882;
    private static final long UMOV_REGISTER = 0x7c82;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    /** Bit 72: the address has 64 bits. */
    private static final long EXTENDED = 1L << 8;
    /** Minimum number of cycles that ptxas leaves between a uniform move and a memory access by its result. */
    private static final int LEAST_STALL = 6;

    private final SectionFlow flow;
    private final MachineFence fence;
    private final Set<Long> relocated;
    private final boolean kernel;
    private final boolean called;
    private final boolean enteredInside;
    /** Uniform registers that keep the window's base: each the upper half of a pair. */
    private long baseUniforms;
    private int baseRegister = InstructionWord.ZERO_REGISTER;
    private final AccessDescriptors descriptors;
    private boolean takesDescriptors;

    /**
     * Creates the verifier of one section.
     *
     * @param relocated offsets that relocations write to
     */
    SectionVerifier(SectionFlow flow, MachineFence fence, Set<Long> relocated) {
        this(flow, fence, relocated, true, false, false);
    }

    /**
     * Creates the verifier of one section.
     *
     * @param relocated     offsets that relocations write to
     * @param kernel        whether it is a kernel; otherwise functions call it
     * @param called        whether other code may call it although it is a kernel
     * @param enteredInside whether code of other sections may enter it after its start
     */
    SectionVerifier(SectionFlow flow, MachineFence fence, Set<Long> relocated, boolean kernel, boolean called, boolean enteredInside) {
        this.called = called;
        this.enteredInside = enteredInside;
        this.kernel = kernel;
        this.relocated = relocated;
        this.flow = flow;
        this.fence = fence;
        this.descriptors = new AccessDescriptors(flow, kernel);
    }

    /**
     * Verifies the whole section.
     *
     * @return a property that is not shown, although compiled code has it; null if there is none
     * @throws MachineCodeException with the first instruction that is not shown to be fenced
     */
    String verify() throws MachineCodeException {
        if (!flow.ends()) {
            throw new MachineCodeException("execution may run over the end of the function", (flow.count() - 1) * InstructionWord.BYTES);
        }
        requireRelocations();
        readStart();
        requireKept();
        FencedRegisters known = new FencedRegisters(flow.architecture(), fence, baseRegister);
        InFlightFlow inFlight = new InFlightFlow(flow, fence, known, kernel);
        inFlight.solve();
        RegisterFlow registers = new RegisterFlow(flow, fence, baseRegister, inFlight::isSettled);
        SummedAddresses sums = new SummedAddresses(flow, fence);
        Looks looks = Looks.of(flow, fence);
        String trusted = inFlight.trusted() != null ? inFlight.trusted() : byRegister();
        if (trusted == null && (baseUniforms != 0 || !looks.isEmpty()) && isBesideOthers()) {
            trusted = (looks.isEmpty() ? "the window's base in" : "looks by") + " uniform registers, which other functions may change";
        }
        for (int block = 0; block < flow.count(); block = flow.blockEnd(block)) {
            registers.enter(known, block);
            int end = flow.blockEnd(block);
            for (int i = block; i < end; i++) {
                if (flow.operation(i).kind() == Kind.TEXTURE) {
                    throw new MachineCodeException("a " + flow.operation(i).name() + ", whose texture is not checked", i * InstructionWord.BYTES);
                }
                boolean reports = ReportSequence.isStore(flow, i, fence) && inFlight.isSettled(ReportSequence.first(i));
                if (SummedAddresses.adds(flow, i) && sums.isFenced(known, i)) {
                    trusted = trusted != null ? trusted : byUniform(i);
                } else if (flow.operation(i).isGlobal() && !reports && !looks.isLoad(i)) {
                    access(known, i);
                }
                registers.step(known, i);
            }
        }
        return trusted == null && takesDescriptors && called ? "descriptors in uniform registers, which other functions may change" : trusted;
    }

    /** Returns whether accesses use the driver's descriptor from constant bank 0; valid after {@link #verify}. */
    boolean takesDescriptors() {
        return takesDescriptors;
    }

    /** Returns whether other threads of a warp may execute code of other sections, which writes other uniform registers than this section does. */
    private boolean isBesideOthers() {
        boolean others = !kernel || called;
        for (int i = 0; i < flow.count(); i++) {
            Kind kind = flow.operation(i).kind();
            others |= (kind == Kind.CALL_SYMBOL || kind == Kind.CALL_REGISTER) && !ReportSequence.endsBefore(flow, i, fence);
        }
        return others;
    }

    /** Describes the assumption that compilers change no uniform register which a thread of the warp on another path still needs. */
    private String byUniform(int at) {
        return "a " + flow.operation(at).name() + " by a uniform register, which other threads of the warp may change at offset 0x"
                + Integer.toHexString(at * InstructionWord.BYTES);
    }

    /** Returns the first call or return by a register; null if there is none. Refuses a branch that keeps operands for reuse by the next instruction. */
    private String byRegister() throws MachineCodeException {
        String first = null;
        for (int i = 0; i < flow.count(); i++) {
            MachineOpcode operation = flow.operation(i);
            boolean register = operation.kind() == Kind.RETURN
                    || operation.kind() == Kind.CALL_REGISTER && !ReportSequence.endsBefore(flow, i, fence);
            if (register && first == null) {
                first = "a " + operation.name() + " by a register at offset 0x" + Integer.toHexString(i * InstructionWord.BYTES);
            }
            if (InstructionWord.reuses(flow.high(i)) && SectionFlow.endsBlock(operation.kind())) {
                throw new MachineCodeException("a " + operation.name() + " that hands operands on", i * InstructionWord.BYTES);
            }
        }
        return first;
    }

    /** Checks that a loader writes addresses of functions and variables only into constants and calls, and that each call by address has a relocation. */
    private void requireRelocations() throws MachineCodeException {
        for (long offset : relocated) {
            long at = offset / InstructionWord.BYTES;
            if (offset < 0 || at >= flow.count() || !mayBeRelocated((int) at)) {
                throw new MachineCodeException("a relocation that may change an instruction", (int) Math.min(offset, Integer.MAX_VALUE));
            }
        }
        for (int i = 0; i < flow.count(); i++) {
            if (flow.operation(i).kind() == Kind.CALL_SYMBOL && !relocated.contains((long) i * InstructionWord.BYTES)) {
                throw new MachineCodeException("a call of an address", i * InstructionWord.BYTES);
            }
        }
    }

    private boolean mayBeRelocated(int at) {
        return switch (InstructionWord.key(flow.low(at), flow.high(at))) {
            case 0x943 -> true;
            case 0x802, 0x424, 0x882 -> !isBase(at) && !isRegisterBase(at) && InstructionWord.immediate(flow.low(at)) != fence.baseHigh();
            default -> false;
        };
    }

    /** Reads the section's start, before its first branch target: the instructions that load the base. */
    private void readStart() throws MachineCodeException {
        int end = 0;
        while (end < flow.count() && (end == 0 || !flow.isLeader(end)) && loadsBase(end)) {
            end++;
        }
        requireStall(end - 1);
        if (enteredInside && hasBase()) {
            throw new MachineCodeException("another section may enter behind the start, where the window's base is not loaded");
        }
    }

    private boolean loadsBase(int at) {
        long low = flow.low(at);
        if (isBase(at)) {
            baseUniforms |= 1L << InstructionWord.uniformDestination(low);
        } else if (kernel && fence.kind() == MachineFence.Kind.MASK && baseRegister == InstructionWord.ZERO_REGISTER && isRegisterBase(at)) {
            baseRegister = InstructionWord.destination(low);
        } else {
            return isZeroUniform(at);
        }
        return true;
    }

    private boolean hasBase() {
        return baseUniforms != 0 || baseRegister != InstructionWord.ZERO_REGISTER;
    }

    /** Checks that the load of a base has ended before the next instruction that may use it. */
    private void requireStall(int last) throws MachineCodeException {
        if (last >= 0 && hasBase() && InstructionWord.cycles(flow.high(last)) < LEAST_STALL) {
            throw new MachineCodeException("the window's base is used before it is loaded", last * InstructionWord.BYTES);
        }
    }

    private boolean isBase(int at) {
        long low = flow.low(at);
        return isUniformConstant(at) && InstructionWord.immediate(low) == fence.baseHigh() && fence.mask() == 0
                && (InstructionWord.uniformDestination(low) & 1) == 1 && InstructionWord.uniformDestination(low) < InstructionWord.ZERO_UNIFORM;
    }

    private boolean isZeroUniform(int at) {
        return isUniformConstant(at) && InstructionWord.immediate(flow.low(at)) == 0;
    }

    private boolean isUniformConstant(int at) {
        return (flow.low(at) & 0xff00ffffL) == UMOV_IMMEDIATE && (flow.low(at) >>> 22 & 3) == 0 && (flow.high(at) & WITHOUT_CONTROL) == 0;
    }

    private boolean isRegisterBase(int at) {
        return (flow.low(at) & 0xff00ffffL) == 0x7802 && (flow.high(at) & WITHOUT_CONTROL) == 0xf00
                && InstructionWord.immediate(flow.low(at)) == fence.baseHigh();
    }

    /** Checks that nothing else writes the registers that keep the base; calls that may do so are followed by instructions that load it again. */
    private void requireKept() throws MachineCodeException {
        for (int i = 0; i < flow.count(); i++) {
            MachineOpcode operation = flow.operation(i);
            long low = flow.low(i);
            for (int u = 1; u < InstructionWord.ZERO_UNIFORM && baseUniforms != 0; u += 2) {
                if ((baseUniforms >>> u & 1) != 0 && operation.writesUniform(low, u) && !isBase(i) && !isLowHalf(i)) {
                    throw new MachineCodeException("a " + operation.name() + " that may write the window's base", i * InstructionWord.BYTES);
                }
            }
            if (baseRegister != InstructionWord.ZERO_REGISTER && !(isRegisterBase(i) && InstructionWord.destination(low) == baseRegister)
                    && (operation.writes(low, baseRegister) && operation.kind() != Kind.CALL && operation.kind() != Kind.COLLECTIVE
                            && !"ENDCOLLECTIVE".equals(operation.name()) || leaves(operation))) {
                throw new MachineCodeException("a " + operation.name() + " that may write the window's base", i * InstructionWord.BYTES);
            }
            if (baseUniforms != 0 && leaves(operation) && operation.kind() != Kind.REGISTER_COUNT) {
                requireLoadedAgain(i + 1);
            }
        }
    }

    private static boolean leaves(MachineOpcode operation) {
        return operation.kind() == Kind.CALL_SYMBOL || operation.kind() == Kind.CALL_REGISTER || operation.kind() == Kind.REGISTER_COUNT;
    }

    /** Returns whether an instruction is a copy, one register wide, into the lower half of a pair. */
    private boolean isLowHalf(int at) {
        return (flow.low(at) & 0xff00ffffL & ~(0x3fL << 32)) == UMOV_REGISTER && (InstructionWord.uniformDestination(flow.low(at)) & 1) == 0;
    }

    private void requireLoadedAgain(int at) throws MachineCodeException {
        long loaded = 0;
        int end = at;
        while (end < flow.count() && (isBase(end) || isZeroUniform(end))) {
            loaded |= isBase(end) ? 1L << InstructionWord.uniformDestination(flow.low(end)) : 0;
            end++;
        }
        if ((baseUniforms & ~loaded) != 0) {
            throw new MachineCodeException("after a call the window's base is not loaded again", at * InstructionWord.BYTES);
        }
        requireStall(end - 1);
    }

    private void access(FencedRegisters known, int at) throws MachineCodeException {
        long low = flow.low(at);
        long high = flow.high(at);
        MachineOpcode operation = flow.operation(at);
        if (operation.kind() == Kind.GLOBAL) {
            GlobalForm form = GlobalForm.of(InstructionWord.key(low, high));
            int uniform = form.uniform(low, high);
            if (!form.hasDescriptor(high) && !form.isPlain(low, high)) {
                if (!flow.architecture().addsLowWords() || form.isWide(high) || (uniform & 1) != 0 || uniform >= InstructionWord.ZERO_UNIFORM
                        || (baseUniforms >>> uniform + 1 & 1) == 0) {
                    throw new MachineCodeException("a " + operation.name() + " by a uniform register that is not the window's base",
                            at * InstructionWord.BYTES);
                }
                return;
            }
            if (!form.isWide(high)) {
                throw new MachineCodeException("a " + operation.name() + " of an illegal form", at * InstructionWord.BYTES);
            }
        }
        int register = InstructionWord.source(low);
        boolean extended = operation.kind() == Kind.GLOBAL ? operation.name().equals("LDGSTS") || (high & EXTENDED) != 0
                : GlobalForm.isRegisterWide(InstructionWord.key(low, high), high);
        if (!extended) {
            throw new MachineCodeException("a " + operation.name() + " with an address of 32 bits", at * InstructionWord.BYTES);
        }
        if ((register & 1) != 0 || !known.isFenced(register + 1, InstructionWord.predicate(low))) {
            throw new MachineCodeException("a " + operation.name() + " whose address is not seen to be in the window", at * InstructionWord.BYTES);
        }
        if (AccessDescriptors.has(flow, at)) {
            requireDrivers(at);
        }
    }

    private void requireDrivers(int at) throws MachineCodeException {
        if (!descriptors.isDrivers(at)) {
            throw new MachineCodeException("a " + flow.operation(at).name() + " by a descriptor that is not seen to be the driver's",
                    at * InstructionWord.BYTES);
        }
        takesDescriptors = true;
    }
}
