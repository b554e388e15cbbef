package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.verify.FencedRegisters;
import io.tessera.guardian.machine.verify.InFlightFlow;
import io.tessera.guardian.machine.verify.RegisterFlow;
import io.tessera.guardian.machine.verify.ReportSequence;
import io.tessera.guardian.machine.verify.SummedAddresses;
import java.util.Arrays;
import java.util.Map;

/**
 * Puts fences into the code of one section. An address register is changed in place where the fence needs an instruction: for an address in the window that is no
 * change, at every step, so that loads in flight may still read it. One owner thread.
 */
final class SectionRewriter {
    /** Cycles until a uniform register that was just written can be an operand of a memory access. */
    private static final int AFTER_START = 8;

    private final SectionFlow flow;
    private final MachineFence fence;
    private final FencePlan plan;
    private final boolean kernel;
    private final CodeBuilder out;
    private final int[] places;
    /** The instruction of the section that an instruction of the result is; -1: one of a fence. */
    private int[] origins;
    private final Map<Integer, Integer> ends;
    private InFlightFlow.Additions additions = InFlightFlow.Additions.NONE;
    private int inserted;
    private int accesses;
    /** Up to here it is known which instructions are a fence's. */
    private int lastMarked;

    /**
     * For one section.
     *
     * @param ends instructions that would end the context, with the reason that is reported instead
     */
    SectionRewriter(SectionFlow flow, MachineFence fence, FencePlan plan, Map<Integer, Integer> ends) {
        this(flow, fence, plan, ends, true);
    }

    /**
     * For one section.
     *
     * @param ends   as above
     * @param kernel whether it is no function that others call
     */
    SectionRewriter(SectionFlow flow, MachineFence fence, FencePlan plan, Map<Integer, Integer> ends, boolean kernel) {
        this.kernel = kernel;
        this.ends = fence.reports() ? ends : Map.of();
        this.flow = flow;
        this.fence = fence;
        this.plan = plan;
        this.out = new CodeBuilder(flow.count() + flow.count() / 4);
        this.places = new int[flow.count() + 1];
        this.origins = new int[flow.count() * 2 + 8];
    }

    /**
     * Rewrites all of it.
     *
     * @return the code, with new distances of branches; return addresses and tables are those of before
     * @throws MachineCodeException if an access cannot be fenced
     */
    RewrittenSection rewrite() throws MachineCodeException {
        start();
        additions = fence.kind() == MachineFence.Kind.NONE ? InFlightFlow.Additions.NONE
                : InFlightFlow.additions(flow, fence, this::isForced, kernel);
        RegisterFlow registers = new RegisterFlow(flow, fence, plan.baseRegister(), at -> isForced(at) && !SummedAddresses.adds(flow, at));
        FencedRegisters known = new FencedRegisters(fence, plan.baseRegister());
        for (int i = 0; i < flow.count(); i++) {
            if (flow.isLeader(i) || i == 0) {
                registers.enter(known, i);
            }
            places[i] = out.count();
            MachineOpcode operation = flow.operation(i);
            if (!ends.isEmpty() && ends.containsKey(i)) {
                report(i);
            }
            if (operation.isGlobal() && fence.kind() != MachineFence.Kind.NONE) {
                accesses++;
                access(known, i, operation);
            } else {
                keep(i, flow.low(i), flow.high(i));
            }
            registers.step(known, i);
            if (operation.kind() == Kind.CALL_SYMBOL || operation.kind() == Kind.CALL_REGISTER) {
                start();
            }
        }
        places[flow.count()] = out.count();
        int count = out.count();
        retarget(count);
        return new RewrittenSection(out.finish(), places, origins, inserted, accesses);
    }

    /** Loads the base. */
    private void start() {
        if (plan.hasUniform()) {
            int u = plan.uniform();
            Encoding.moveUniform(out, u, 0, 1);
            Encoding.moveUniform(out, u + 3, fence.baseHigh(), 1);
            Encoding.moveUniform(out, u + 1, fence.baseHigh(), AFTER_START);
        }
        if (plan.hasRegister() && out.count() == 0) {
            Encoding.move(out, plan.baseRegister(), fence.baseHigh(), InstructionWord.ALWAYS, Encoding.UNIFORM_BEFORE_ACCESS, 0);
        }
        markInserted();
    }

    /** The threads that would execute an instruction report and end. */
    private void report(int at) {
        out.interrupt();
        int predicate = InstructionWord.predicate(flow.low(at));
        Encoding.move(out, 0, (int) fence.reportAddress(), predicate, 1, ReportSequence.ALL_SCOREBOARDS);
        Encoding.move(out, 1, (int) (fence.reportAddress() >>> 32), predicate, 1, 0);
        Encoding.move(out, 2, fence.reported(ends.get(at)), predicate, Encoding.UNIFORM_BEFORE_ACCESS, 0);
        Encoding.storeAndExit(out, predicate);
    }

    private void keep(int at, long low, long high) {
        markInserted();
        origin(out.count(), at);
        long changed = additions.scoreboards().get(at) ? InstructionWord.withWriteScoreboard(high, InFlightFlow.ADDED_SCOREBOARD) : high;
        boolean waits = !flow.operation(at).isGlobal() && !additions.waits().isEmpty();
        out.add(low, waits ? changed | InstructionWord.waitBits(additions.waits().getOrDefault(at, 0)) : changed);
    }

    private void markInserted() {
        for (int i = lastMarked; i < out.count(); i++) {
            origin(i, -1);
            inserted++;
        }
        lastMarked = out.count();
    }

    private void origin(int place, int at) {
        if (place >= origins.length) {
            origins = Arrays.copyOf(origins, 2 * origins.length);
        }
        origins[place] = at;
        lastMarked = Math.max(lastMarked, place + 1);
    }

    private void access(FencedRegisters known, int at, MachineOpcode operation) throws MachineCodeException {
        long low = flow.low(at);
        long high = flow.high(at);
        if (operation.kind() == Kind.GLOBAL) {
            GlobalForm form = GlobalForm.of(InstructionWord.key(low, high));
            int uniform = InstructionWord.ZERO_UNIFORM;
            if (SummedAddresses.adds(flow, at)) {
                if (!plan.hasUniform()) {
                    sum(form, at);
                    return;
                }
                uniform = form.uniform(low, high);
            }
            if (plan.hasUniform()) {
                int base = plan.uniform();
                if (uniform != InstructionWord.ZERO_UNIFORM) {
                    out.interrupt();
                    base += 2;
                    Encoding.copyUniform(out, base, uniform, InstructionWord.waits(high));
                }
                keep(at, form.windowedLow(low, base), form.windowedHigh(high, base));
                return;
            }
        }
        force(known, at, operation);
        keep(at, low, high);
    }

    /** The fence of an access that adds a uniform register to its address, as {@link SummedAddresses} describes it. */
    private void sum(GlobalForm form, int at) throws MachineCodeException {
        long low = flow.low(at);
        long high = flow.high(at);
        int register = InstructionWord.source(low);
        int uniform = form.uniform(low, high);
        boolean absolute = register == InstructionWord.ZERO_REGISTER;
        Architecture architecture = flow.architecture();
        if (!plan.hasTemporary() || form.isWide(high) != SummedAddresses.isWide(absolute, architecture) || (register & 1) != 0 && !absolute
                || (uniform & 1) != 0) {
            throw new MachineCodeException("a " + flow.operation(at).name() + " that adds a uniform register to its address",
                    at * InstructionWord.BYTES);
        }
        out.interrupt();
        requireStall(at, uniform);
        int waits = InstructionWord.waits(high) | additions.waits().getOrDefault(at, 0);
        int temporary = plan.temporary();
        if (absolute) {
            Encoding.copyUniform(out, temporary, uniform, waits);
            Encoding.orUniform(out, temporary + 1, uniform + 1, fence.baseHigh());
            Encoding.andUniform(out, temporary + 1, fence.baseHigh() | fence.mask(), architecture);
            keep(at, form.windowedLow(low, temporary), form.withUniform(high, temporary));
            return;
        }
        int predicate = InstructionWord.predicate(low);
        Encoding.differenceUniform(out, temporary, fence.baseHigh() - 1, uniform + 1, Encoding.UNIFORM_APART, waits);
        Encoding.differenceUniform(out, temporary + 1, fence.baseHigh() + fence.mask(), uniform + 1, Encoding.UNIFORM_BEFORE_ACCESS, 0);
        Encoding.atLeast(out, register + 1, temporary, predicate, architecture);
        Encoding.atMost(out, register + 1, temporary + 1, predicate, architecture);
        keep(at, low, high);
    }

    /** A uniform register is read earlier than without a fence: what writes it is not directly before. */
    private void requireStall(int at, int uniform) {
        for (int i = at - 1; i >= Math.max(0, at - Encoding.UNIFORM_BEFORE_ACCESS); i--) {
            if (flow.operation(i).writesUniform(flow.low(i), uniform) || flow.operation(i).writesUniform(flow.low(i), uniform + 1)) {
                Encoding.nothing(out, Encoding.UNIFORM_BEFORE_ACCESS);
                return;
            }
        }
    }

    /** Whether the fence of an access changes its address register; else the access itself is changed. */
    private boolean isForced(int at) {
        return fence.kind() != MachineFence.Kind.NONE && !(plan.hasUniform() && flow.operation(at).kind() == Kind.GLOBAL);
    }

    /** Forces the high word of an address register into the window, unless it is known to be there. */
    private void force(FencedRegisters known, int at, MachineOpcode operation) throws MachineCodeException {
        long low = flow.low(at);
        int register = InstructionWord.source(low) + 1;
        int predicate = InstructionWord.predicate(low);
        if (register >= InstructionWord.ZERO_REGISTER || (register & 1) == 0) {
            throw new MachineCodeException("a " + operation.name() + " with an absolute address", at * InstructionWord.BYTES);
        }
        if (known.isFenced(register, predicate)) {
            return;
        }
        out.interrupt();
        int waits = InstructionWord.waits(flow.high(at)) | additions.waits().getOrDefault(at, 0);
        Encoding.delay(out, additions.delays().getOrDefault(at, 0));
        if (fence.mask() == 0) {
            Encoding.move(out, register, fence.baseHigh(), predicate, Encoding.BEFORE_ACCESS, waits);
        } else if (plan.hasRegister()) {
            Encoding.andOr(out, register, fence.mask(), plan.baseRegister(), predicate, waits);
        } else {
            Encoding.or(out, register, fence.baseHigh(), predicate, waits);
            Encoding.and(out, register, fence.baseHigh() | fence.mask(), predicate, 0);
        }
    }

    /** Branches go where their targets are now. */
    private void retarget(int count) {
        Architecture architecture = flow.architecture();
        for (int i = 0; i < count; i++) {
            int at = origins[i];
            if (at < 0) {
                continue;
            }
            long low = out.low(i);
            long high = out.high(i);
            int target = flow.target(at);
            Kind kind = flow.operation(at).kind();
            if (target != SectionFlow.NONE) {
                long distance = (long) (places[target] - i - 1) * InstructionWord.BYTES;
                if (kind == Kind.MEETING) {
                    out.set(i, InstructionWord.withImmediate(low, (int) distance), high);
                } else {
                    out.set(i, architecture.withDistanceLow(low, distance), architecture.withDistanceHigh(high, distance));
                }
            } else if ((kind == Kind.RETURN || kind == Kind.INDIRECT_BRANCH) && architecture.distance(low, high) != 0) {
                long distance = -(long) (i + 1) * InstructionWord.BYTES; // to the section's start, from which registers and tables count
                out.set(i, architecture.withDistanceLow(low, distance), architecture.withDistanceHigh(high, distance));
            }
        }
    }
}
