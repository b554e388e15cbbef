package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * What is known of registers at the start of each block of a section, over all ways that lead there. Where a block is entered by a call, a return or a table,
 * nothing is known. One owner thread.
 */
public final class RegisterFlow {
    private final SectionFlow flow;
    private final MachineFence fence;
    private final int baseRegister;
    private final IntPredicate assumed;
    private final IntPredicate settled;
    private final Map<Integer, FencedRegisters> atStart = new HashMap<>();
    private final Set<Integer> visited = new HashSet<>();

    /**
     * Goes all ways until nothing changes.
     *
     * @param assumed accesses whose address register is taken to be fenced before them, as the rewriter wants to know it
     */
    public RegisterFlow(SectionFlow flow, MachineFence fence, int baseRegister, IntPredicate assumed) {
        this(flow, fence, baseRegister, assumed, _ -> true);
    }

    /**
     * Goes all ways until nothing changes.
     *
     * @param assumed as above
     * @param settled instructions that may be steps of a fence, since nothing in flight writes their results or predicates
     */
    RegisterFlow(SectionFlow flow, MachineFence fence, int baseRegister, IntPredicate assumed, IntPredicate settled) {
        this.flow = flow;
        this.fence = fence;
        this.baseRegister = baseRegister;
        this.assumed = assumed;
        this.settled = settled;
        solve();
    }

    private void solve() {
        Deque<Integer> open = new ArrayDeque<>();
        for (int at = 0; at < flow.count(); at = flow.blockEnd(at)) {
            FencedRegisters known = new FencedRegisters(fence, baseRegister);
            if (flow.isEntered(at)) {
                open.add(at);
            } else {
                known.assumeAll();
            }
            atStart.put(at, known);
        }
        FencedRegisters registers = new FencedRegisters(fence, baseRegister);
        while (!open.isEmpty()) {
            int at = open.remove();
            int end = flow.blockEnd(at);
            registers.set(atStart.get(at));
            for (int i = at; i < end; i++) {
                step(registers, i);
            }
            for (int next : flow.successors(end - 1)) {
                // A block whose knowledge is still everything has to be walked through once, even if nothing is lost.
                FencedRegisters known = atStart.get(next);
                boolean first = visited.add(next);
                if (!flow.isEntered(next) && (known.meet(registers) || first)) {
                    open.add(next);
                }
            }
        }
        atStart.forEach((block, known) -> {
            if (!visited.contains(block)) {
                known.clear(); // no way that is known here leads there
            }
        });
    }

    /** What is known at the start of a block, to be changed by {@link #step}. */
    public void enter(FencedRegisters registers, int block) {
        registers.set(atStart.get(block));
    }

    /** Goes over an instruction. */
    public void step(FencedRegisters registers, int at) {
        MachineOpcode operation = flow.operation(at);
        long low = flow.low(at);
        registers.after(low, flow.high(at), operation, settled.test(at));
        if (operation.kind() == Kind.TRAP) {
            registers.clear(); // a report before it writes registers
        }
        if (fence.mask() != 0 && SummedAddresses.adds(flow, at)) {
            registers.forget(InstructionWord.source(low) + 1); // its fence keeps the sum in the window, not the register
        }
        if (operation.isGlobal() && assumed.test(at) && InstructionWord.predicate(low) == InstructionWord.ALWAYS
                && InstructionWord.source(low) < InstructionWord.ZERO_REGISTER - 1
                && !operation.writes(low, InstructionWord.source(low) + 1)) {
            registers.assume(InstructionWord.source(low) + 1);
        }
    }
}
