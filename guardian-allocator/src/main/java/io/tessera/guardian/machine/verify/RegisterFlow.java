package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * Facts about registers at the start of each block of a section, over all paths that lead there. If a block is entered by a call, a return or a
 * table, nothing is known. One owner thread.
 */
public final class RegisterFlow {
    private final SectionFlow flow;
    private final MachineFence fence;
    private final int baseRegister;
    private final IntPredicate assumed;
    private final BitSet assumedAt = new BitSet();
    private final IntPredicate settled;
    /** Null if the code has its fences already. */
    private final BoundPlaces bounds;
    /** Indexed by instruction: cycles from the section's start to it, in the order of the code. */
    private final int[] cycles;
    private final FencedRegisters[] atStart;
    /** As above, at the convergence barriers. */
    private final FencedRegisters[] meeting = new FencedRegisters[SectionFlow.BARRIERS];
    private final BitSet visited = new BitSet();
    private final BitSet open = new BitSet();

    /**
     * Follows all paths until nothing changes, for the rewriter, which has not inserted the fences yet.
     *
     * @param assumed accesses whose address register is assumed to be fenced before them
     * @param bounds  where bounds of sums will be computed
     */
    public RegisterFlow(SectionFlow flow, MachineFence fence, int baseRegister, IntPredicate assumed, BoundPlaces bounds) {
        this(flow, fence, baseRegister, assumed, bounds, _ -> true);
    }

    /**
     * Follows all paths until nothing changes.
     *
     * @param settled instructions that may be steps of a fence, since nothing in flight writes their results or predicates
     */
    RegisterFlow(SectionFlow flow, MachineFence fence, int baseRegister, IntPredicate settled) {
        this(flow, fence, baseRegister, _ -> false, null, settled);
    }

    private RegisterFlow(SectionFlow flow, MachineFence fence, int baseRegister, IntPredicate assumed, BoundPlaces bounds,
            IntPredicate settled) {
        this.flow = flow;
        this.fence = fence;
        this.baseRegister = baseRegister;
        this.assumed = assumed;
        this.bounds = bounds;
        this.settled = settled;
        this.atStart = new FencedRegisters[flow.count()];
        this.cycles = new int[flow.count() + 1];
        for (int i = 0; i < flow.count(); i++) {
            cycles[i + 1] = cycles[i] + InstructionWord.cycles(flow.high(i));
        }
        solve();
    }

    /** Returns the instructions that can change facts about a register that some instruction fences. */
    private BitSet changing() {
        BitSet fenced = new BitSet();
        boolean sums = false;
        for (int i = 0; i < flow.count(); i++) {
            FenceStep step = FenceStep.of(flow.architecture(), flow.low(i), flow.high(i), fence, baseRegister);
            sums |= step == FenceStep.UPPER_BOUND || bounds != null && changesSum(i);
            if (step.isOfRegister()) {
                fenced.set(InstructionWord.destination(flow.low(i)));
            }
            if (isAssumed(i)) {
                assumedAt.set(i);
                fenced.set(InstructionWord.source(flow.low(i)) + 1);
            }
        }
        BitSet changing = new BitSet(flow.count());
        for (int i = 0; i < flow.count() && (sums || !fenced.isEmpty()); i++) {
            MachineOpcode operation = flow.operation(i);
            int first = InstructionWord.destination(flow.low(i));
            int written = operation.registers() == 0 ? -1 : fenced.nextSetBit(first);
            if (operation.registers() == MachineOpcode.MANY || operation.kind() == Kind.TRAP
                    || written >= 0 && written < first + operation.registers() || assumedAt.get(i) || changesSum(i) || handsOn(fenced, i)
                    || sums && (operation.uniforms() > 0 || bounds != null && bounds.before(i).length > 0)) {
                changing.set(i);
            }
        }
        return changing;
    }

    private boolean handsOn(BitSet fenced, int at) {
        boolean hands = false;
        for (int place = 0; place < InstructionWord.OPERANDS && InstructionWord.reuses(flow.high(at)); place++) {
            int operand = InstructionWord.operand(flow.low(at), flow.high(at), place);
            hands |= fenced.get(operand) || fenced.get(operand + 1);
        }
        return hands;
    }

    private void solve() {
        BitSet changing = changing();
        for (int at = 0; at < flow.count(); at = flow.blockEnd(at)) {
            FencedRegisters known = new FencedRegisters(flow.architecture(), fence, baseRegister);
            if (flow.isEntered(at)) {
                open.set(at);
            } else {
                known.assumeAll();
            }
            atStart[at] = known;
        }
        FencedRegisters registers = new FencedRegisters(flow.architecture(), fence, baseRegister);
        for (int at = open.nextSetBit(0); at >= 0; at = open.nextSetBit(at + 1) < 0 ? open.nextSetBit(0) : open.nextSetBit(at + 1)) {
            open.clear(at);
            int end = flow.blockEnd(at);
            registers.set(atStart[at]);
            for (int i = changing.nextSetBit(at); i >= 0 && i < end; i = changing.nextSetBit(i + 1)) {
                step(registers, i);
            }
            registers.at(end, cycles[end]);
            registers.leave();
            leave(registers, end - 1);
        }
        for (int at = 0; at < flow.count(); at = flow.blockEnd(at)) {
            if (!visited.get(at)) {
                atStart[at].clear(); // No known path leads there.
            }
        }
    }

    private void leave(FencedRegisters registers, int last) {
        if (flow.following(last) != SectionFlow.NONE) {
            reach(flow.following(last), registers);
        }
        if (flow.jump(last) != SectionFlow.NONE) {
            reach(flow.jump(last), registers);
        }
        if (flow.operation(last).kind() == Kind.MEET) {
            int barrier = flow.barrier(last);
            boolean first = meeting[barrier] == null;
            if (first) {
                meeting[barrier] = new FencedRegisters(flow.architecture(), fence, baseRegister);
                meeting[barrier].assumeAll();
            }
            if (meeting[barrier].meet(registers) || first) {
                for (int next : flow.meetings(last)) {
                    reach(next, meeting[barrier]);
                }
            }
        }
    }

    private void reach(int next, FencedRegisters registers) {
        // A block whose state is still the initial top must be visited once, even if no fact is lost.
        boolean first = !visited.get(next);
        visited.set(next);
        if (!flow.isEntered(next) && (atStart[next].meet(registers) || first)) {
            open.set(next);
        }
    }

    /** Loads the facts at the start of a block, to be advanced by {@link #step}. */
    public void enter(FencedRegisters registers, int block) {
        registers.set(atStart[block]);
        at(registers, block);
    }

    /** An instruction is next. */
    private void at(FencedRegisters registers, int at) {
        registers.at(at, cycles[at]);
    }

    /** Goes over an instruction. */
    public void step(FencedRegisters registers, int at) {
        MachineOpcode operation = flow.operation(at);
        long low = flow.low(at);
        at(registers, at);
        if (bounds != null) {
            for (int added : bounds.before(at)) {
                registers.assumeBounds(bounds.of(added), added + 1);
            }
        }
        registers.after(low, flow.high(at), operation, settled.test(at));
        if (operation.kind() == Kind.TRAP) {
            registers.clear(); // a report before it writes registers
        }
        if (changesSum(at)) {
            registers.forget(InstructionWord.source(low) + 1); // its fence keeps the sum in the window, not the register
        }
        if (assumedAt.get(at)) {
            registers.assume(InstructionWord.source(low) + 1, InstructionWord.ALWAYS);
        }
        if (bounds != null && changesSum(at)) {
            int added = SummedAddresses.added(flow, at);
            registers.assumeBounds(bounds.of(added), SummedAddresses.hasRegister(flow, at) ? added + 1 : 0);
        }
        at(registers, at + 1);
    }

    private boolean changesSum(int at) {
        return FenceStep.boundsSums(flow.architecture(), fence) && SummedAddresses.adds(flow, at);
    }

    private boolean isAssumed(int at) {
        MachineOpcode operation = flow.operation(at);
        long low = flow.low(at);
        return operation.isGlobal() && assumed.test(at) && InstructionWord.predicate(low) == InstructionWord.ALWAYS
                && InstructionWord.source(low) < InstructionWord.ZERO_REGISTER - 1
                && !operation.writes(low, InstructionWord.source(low) + 1);
    }
}
