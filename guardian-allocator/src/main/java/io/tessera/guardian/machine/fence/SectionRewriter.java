package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.WindowPlaces;
import io.tessera.guardian.machine.align.AlignmentPlan;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.AccessDescriptors;
import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.look.Looks;
import io.tessera.guardian.machine.verify.FencedRegisters;
import io.tessera.guardian.machine.verify.InFlightFlow;
import io.tessera.guardian.machine.verify.RegisterFlow;
import io.tessera.guardian.machine.verify.ReportSequence;
import io.tessera.guardian.machine.verify.SummedAddresses;
import java.util.Arrays;
import java.util.Map;

/**
 * Adds fences to the code of one section. An address register is changed in place if the fence needs an instruction. For an address in the window, no
 * step changes the value, so loads in flight may still read it. One owner thread.
 */
final class SectionRewriter {
    /** Cycles until a uniform register that was just written can be an operand of a memory access. */
    private static final int AFTER_START = 8;
    private static final MachineFence NO_FENCE = new MachineFence(MachineFence.Kind.NONE, 0, 0);
    private static final int[] NO_REGISTERS = {};

    private final SectionFlow flow;
    private final MachineFence fence;
    private final FencePlan plan;
    private final boolean kernel;
    private final CodeBuilder out;
    private final int[] places;
    /** The instruction of the section that an instruction of the result is; -1: one of a fence. */
    private int[] origins;
    private final Map<Integer, Integer> ends;
    private final LookPlan lookPlan;
    private final AlignmentPlan alignment;
    private final Looks looks;
    private final AccessDescriptors descriptors;
    private InFlightFlow.Additions additions = InFlightFlow.Additions.NONE;
    private int inserted;
    private int accesses;
    /** Up to here it is known which instructions are a fence's. */
    private int lastMarked;

    /**
     * Creates the rewriter of one section.
     *
     * @param ends instructions that would end the context, with the reason that is reported instead
     */
    SectionRewriter(SectionFlow flow, MachineFence fence, FencePlan plan, Map<Integer, Integer> ends) {
        this(flow, fence, plan, ends, true, new AccessDescriptors(flow, true));
    }

    /**
     * Creates the rewriter of one section.
     *
     * @param ends        as above
     * @param kernel      whether it is a kernel, which no other function calls
     * @param descriptors descriptors that accesses keep
     */
    SectionRewriter(SectionFlow flow, MachineFence fence, FencePlan plan, Map<Integer, Integer> ends, boolean kernel, AccessDescriptors descriptors) {
        this(flow, fence, plan, ends, kernel, descriptors, LookPlan.NONE, AlignmentPlan.NONE);
    }

    private SectionRewriter(SectionFlow flow, MachineFence fence, FencePlan plan, Map<Integer, Integer> ends, boolean kernel,
            AccessDescriptors descriptors,
            LookPlan lookPlan, AlignmentPlan alignment) {
        this.descriptors = descriptors;
        this.lookPlan = lookPlan;
        this.alignment = alignment;
        this.looks = Looks.of(flow, fence);
        this.kernel = kernel;
        this.ends = fence.reports() ? ends : Map.of();
        this.flow = flow;
        this.fence = fence;
        this.plan = plan;
        this.out = new CodeBuilder(flow.count() + flow.count() / 4);
        this.places = new int[flow.count() + 1];
        this.origins = new int[flow.count() * 2 + 8];
    }

    /** Returns a rewriter that adds looks at the stop word and no fences to a section. */
    static SectionRewriter looking(SectionFlow flow, LookPlan looks) {
        return new SectionRewriter(flow, NO_FENCE, FencePlan.WITHOUT_REGISTERS, Map.of(), true, new AccessDescriptors(flow, false), looks,
                AlignmentPlan.NONE);
    }

    /** Returns a rewriter that aligns addresses of a section and adds no fences. */
    static SectionRewriter aligning(SectionFlow flow, AlignmentPlan alignment, boolean kernel) {
        return new SectionRewriter(flow, NO_FENCE, FencePlan.WITHOUT_REGISTERS, Map.of(), kernel, new AccessDescriptors(flow, false), LookPlan.NONE,
                alignment);
    }

    /**
     * Rewrites all of it.
     *
     * @return the code, with new distances of branches; return addresses and tables are those of before
     * @throws MachineCodeException if an access cannot be fenced
     */
    RewrittenSection rewrite() throws MachineCodeException {
        start();
        additions = fence.kind() == MachineFence.Kind.NONE && alignment.isEmpty() ? InFlightFlow.Additions.NONE
                : InFlightFlow.additions(flow, fence, this::changed, kernel);
        RegisterFlow registers = new RegisterFlow(flow, fence, plan.baseRegister(), at -> isForced(at) && !SummedAddresses.adds(flow, at),
                plan.bounds());
        FencedRegisters known = new FencedRegisters(flow.architecture(), fence, plan.baseRegister());
        BlockFences fences = new BlockFences(flow, fence, plan, additions);
        PassedInstructions passed = new PassedInstructions(flow, ends);
        int[] copies = new int[flow.count()];
        for (int block = 0; block < flow.count(); block = flow.blockEnd(block)) {
            registers.enter(known, block);
            for (int i = block; i < flow.blockEnd(block); i++) {
                fences.beforeLoop(known, i);
                if (flow.operation(i).isGlobal() && fence.kind() != MachineFence.Kind.NONE && !looks.isLoad(i)) {
                    accesses++;
                    copies[i] = fence(fences, known, i, flow.operation(i));
                }
                for (AlignmentPlan.Change change : alignment.before(i)) {
                    fences.align(i, change);
                }
                registers.step(known, i);
                stayFenced(known, i);
            }
            for (int i = block; i < flow.blockEnd(block);) {
                i = put(fences, passed, i, copies[i]);
            }
        }
        places[flow.count()] = out.count();
        int count = out.count();
        retarget(count);
        lookPlan.finish(out, flow.architecture());
        markInserted();
        return new RewrittenSection(out.finish(), places, origins, inserted, accesses, out.named());
    }

    /** Loads the base. */
    private void start() {
        if (plan.hasUniform()) {
            int u = plan.uniform();
            Encoding.moveUniform(out, u, 0, 1);
            Encoding.moveUniform(out, u + 3, out.naming(WindowPlaces.Value.BASE, fence), 1);
            Encoding.moveUniform(out, u + 1, out.naming(WindowPlaces.Value.BASE, fence), AFTER_START);
        }
        if (plan.hasRegister() && out.count() == 0) {
            Encoding.move(out, plan.baseRegister(), out.naming(WindowPlaces.Value.BASE, fence), InstructionWord.ALWAYS,
                    Encoding.UNIFORM_BEFORE_ACCESS, 0);
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
        boolean waits = !flow.operation(at).isGlobal() && alignment.before(at).isEmpty() && !additions.waits().isEmpty();
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

    /** Puts an instruction with what comes before it. Returns the next one that is to be put. */
    private int put(BlockFences fences, PassedInstructions passed, int at, int copy) {
        places[at] = out.count();
        lookPlan.put(out, at);
        fences.put(out, at);
        int next = fences.put(out, at, passed, other -> put(fences, passed, other, 0));
        MachineOpcode operation = flow.operation(at);
        if (ends.containsKey(at)) {
            report(at);
        }
        if (copy != 0) {
            GlobalForm form = GlobalForm.of(InstructionWord.key(flow.low(at), flow.high(at)));
            keep(at, form.windowedLow(flow.low(at), copy), form.withUniform(flow.high(at), copy));
        } else if (operation.kind() == Kind.GLOBAL && plan.hasUniform() && !looks.isLoad(at)) {
            inLowWord(at);
        } else if (losesDescriptor(at)) {
            GlobalForm form = GlobalForm.of(InstructionWord.key(flow.low(at), flow.high(at)));
            keep(at, form.plainLow(flow.low(at)), form.plainHigh(flow.high(at)));
        } else {
            keep(at, flow.low(at), flow.high(at));
        }
        if (operation.kind() == Kind.CALL_SYMBOL || operation.kind() == Kind.CALL_REGISTER) {
            start();
        }
        if (next > at + 1) {
            out.interrupt();
        }
        return next;
    }

    /**
     * Returns whether an access has a descriptor that is not shown to be the driver's. Without a descriptor, it has the hardware's default policy.
     */
    private boolean losesDescriptor(int at) {
        return fence.kind() != MachineFence.Kind.NONE && AccessDescriptors.has(flow, at) && !descriptors.isDrivers(at);
    }

    /** The access adds the base to the low word of its address. */
    private void inLowWord(int at) {
        long low = flow.low(at);
        long high = flow.high(at);
        GlobalForm form = GlobalForm.of(InstructionWord.key(low, high));
        int base = plan.uniform();
        if (SummedAddresses.adds(flow, at) && form.uniform(low, high) != InstructionWord.ZERO_UNIFORM) {
            out.interrupt();
            base += 2;
            Encoding.copyUniform(out, base, form.uniform(low, high), InstructionWord.waits(high));
        }
        keep(at, form.windowedLow(low, base), form.windowedHigh(high, base));
    }

    /** Has the address of an access fenced; returns the uniform register that it is to take instead, or 0. */
    private int fence(BlockFences fences, FencedRegisters known, int at, MachineOpcode operation) throws MachineCodeException {
        if (!isForced(at)) {
            return 0;
        }
        if (SummedAddresses.adds(flow, at)) {
            return fences.sum(known, at, GlobalForm.of(InstructionWord.key(flow.low(at), flow.high(at))));
        }
        fences.force(known, at, operation);
        return 0;
    }

    /** The registers that are changed before an instruction. */
    private int[] changed(int at) {
        int high = InstructionWord.source(flow.low(at)) + 1;
        boolean fenced = flow.operation(at).isGlobal() && isForced(at) && high < InstructionWord.ZERO_REGISTER;
        return fenced ? new int[] {high} : alignment.registers(at);
    }

    /** Returns whether the fence of an access changes its address register; otherwise the access itself is changed. */
    private boolean isForced(int at) {
        return fence.kind() != MachineFence.Kind.NONE && !looks.isLoad(at) && !(plan.hasUniform() && flow.operation(at).kind() == Kind.GLOBAL);
    }

    /** An address that was fenced under a predicate is fenced for what follows under the same one. */
    private void stayFenced(FencedRegisters known, int at) {
        long low = flow.low(at);
        MachineOpcode operation = flow.operation(at);
        int register = InstructionWord.source(low) + 1;
        if (operation.isGlobal() && isForced(at) && InstructionWord.predicate(low) != InstructionWord.ALWAYS && !SummedAddresses.adds(flow, at)
                && register < InstructionWord.ZERO_REGISTER && !operation.writes(low, register)) {
            known.assume(register, InstructionWord.predicate(low));
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
                long distance = -(long) (i + 1) * InstructionWord.BYTES; // To the section's start, from which registers and tables count.
                out.set(i, architecture.withDistanceLow(low, distance), architecture.withDistanceHigh(high, distance));
            }
        }
    }
}
