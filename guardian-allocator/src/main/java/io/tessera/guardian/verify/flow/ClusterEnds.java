package io.tessera.guardian.verify.flow;

import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Operand.Immediate;
import io.tessera.guardian.ptx.Operand.Not;
import io.tessera.guardian.ptx.Operand.Register;
import io.tessera.guardian.ptx.Operand.SpecialRegister;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Whether the first thread of a block ends only when all threads of its cluster have ended, so that the block is there while others may reach into its
 * shared memory. Before each end, under its guard {@code p} if it has one:
 * <pre>{@code
 * @p fence.acq_rel.cluster;    // no access is under way any more
 * mov.u32 r, %tid.x;
 * mov.u32 s, %tid.y;
 * or.b32 r, r, s;
 * mov.u32 s, %tid.z;
 * or.b32 r, r, s;
 * mov.u32 s, %cluster_nctarank; // a block that is alone is none's to wait for
 * setp.eq.u32 q, s, 1;
 * selp.b32 r, 1, r, q;
 * setp.eq.and.u32 q, r, 0, p;  // or setp.eq.u32 q, r, 0
 * @q barrier.cluster.wait;     // where it has arrived before
 * @q barrier.cluster.arrive;
 * @q barrier.cluster.wait;     // these two once more than a kernel has other arrivals
 * }</pre>
 * No other arrival is in a loop, so that no thread that has not ended arrives as often; none comes before the wait for the last one; and functions that
 * are called have none. Used once.
 */
public final class ClusterEnds {
    private static final int COMPARE = 9;
    private static final int NONE = 1;
    private static final int PENDING = 2;

    private final Body body;
    private final Flow flow;
    private final Map<Integer, Wait> waits = new HashMap<>();

    /**
     * What stands before an end.
     *
     * @param first   its first instruction
     * @param end     the end
     * @param pairs   how often it arrives and waits
     * @param pending whether it waits for an earlier arrival before
     */
    private record Wait(int first, int end, int pairs, boolean pending) {
    }

    private ClusterEnds(Body body, Flow flow) {
        this.body = body;
        this.flow = flow;
    }

    /**
     * Refuses a function that is not shown to.
     *
     * @param callers arrivals of each kernel that may call it, at most
     * @return arrivals of a kernel, other than before its ends
     */
    public static int check(Body body, Flow flow, int callers) throws UnverifiedException {
        ClusterEnds ends = new ClusterEnds(body, flow);
        int own = ends.arrivals();
        for (Wait wait : ends.waits.values()) {
            if (wait.pairs() <= Math.max(own, callers)) {
                throw refused(body.code.get(wait.end()), "waits for the cluster no more often than other threads may arrive");
            }
        }
        ends.pending();
        return own;
    }

    private static UnverifiedException refused(Instruction i, String why) {
        return new UnverifiedException(i.line(), i.mnemonic() + ": " + why);
    }

    /** Finds the waits, and counts the arrivals that are in none. */
    private int arrivals() throws UnverifiedException {
        boolean kernel = body.function.kind() == PtxFunction.Kind.ENTRY;
        Instruction last = body.code.isEmpty() ? null : body.code.getLast();
        if (kernel && (last == null || last.guard().isPresent()
                || !(last.opcode().equals("ret") || last.opcode().equals("exit") || last.opcode().equals("bra")))) {
            throw new UnverifiedException(body.function.line(),
                    "'" + body.function.name() + "' ends where its text does, without a wait for the cluster");
        }
        Set<Integer> labelled = new HashSet<>(body.labels.values());
        BitSet inside = new BitSet();
        for (int at = 0; at < body.code.size(); at++) {
            Instruction i = body.code.get(at);
            if (i.opcode().equals("exit") || kernel && i.opcode().equals("ret")) {
                Wait wait = before(body.code, at);
                for (int n = wait == null ? at : wait.first() + 1; wait != null && n <= at; n++) {
                    wait = labelled.contains(n) ? null : wait;
                }
                if (wait == null) {
                    throw refused(i, "does not wait for the cluster, whose blocks may reach into each other's shared memory");
                }
                waits.put(wait.first(), wait);
                inside.set(wait.first(), at);
            }
        }
        BitSet loops = new BitSet();
        Components.cycles(flow.in.stream().flatMap(List::stream).toList()).forEach(
                cycle -> cycle.forEach(block -> loops.set(flow.start[block], flow.end[block])));
        int count = 0;
        for (int at = 0; at < body.code.size(); at++) {
            Instruction i = body.code.get(at);
            if (isBarrier(i) && !inside.get(at)) {
                if (!kernel || i.has("arrive") && loops.get(at)) {
                    throw refused(i, kernel ? "in a loop" : "in a function that is called");
                }
                count += i.has("arrive") ? 1 : 0;
            }
        }
        return count;
    }

    /** Whether all that stands between two places is what an end needs that waits for the cluster. */
    public static boolean isWait(List<Instruction> code, int first, int end) {
        Wait wait = before(code, end);
        return wait != null && wait.first() == first && !wait.pending();
    }

    private static Wait before(List<Instruction> code, int end) {
        int at = end - 1;
        Optional<Guard> holds = at < 0 ? Optional.empty() : code.get(at).guard();
        while (at > COMPARE + 1 && is(code.get(at), holds, "barrier.cluster.wait") && is(code.get(at - 1), holds, "barrier.cluster.arrive")) {
            at -= 2;
        }
        int pairs = (end - 1 - at) / 2;
        boolean pending = pairs > 0 && is(code.get(at), holds, "barrier.cluster.wait");
        int first = at - (pending ? 1 : 0) - COMPARE;
        return pairs > 0 && first >= 0 && holds.isPresent() && !holds.get().negated()
                && isFirst(code, first, holds.get().register(), code.get(end).guard())
                        ? new Wait(first, end, pairs, pending) : null;
    }

    /** Whether accesses are awaited here, and it is found who is the first thread, both under a guard. */
    private static boolean isFirst(List<Instruction> code, int at, Register chosen, Optional<Guard> guard) {
        if (!(written(code.get(at + 1)) instanceof Register place) || !(written(code.get(at + 2)) instanceof Register other) || place.equals(other)) {
            return false;
        }
        Optional<Guard> all = Optional.empty();
        Operand condition = guard.map(given -> given.negated() ? new Not(given.register()) : given.register()).orElse(null);
        Instruction compare = code.get(at + COMPARE);
        return is(code.get(at), guard, "fence.acq_rel.cluster")
                && is(code.get(at + 1), all, "mov.u32", place, new SpecialRegister("%tid", "x"))
                && is(code.get(at + 2), all, "mov.u32", other, new SpecialRegister("%tid", "y"))
                && is(code.get(at + 3), all, "or.b32", place, place, other)
                && is(code.get(at + 4), all, "mov.u32", other, new SpecialRegister("%tid", "z"))
                && is(code.get(at + 5), all, "or.b32", place, place, other)
                && is(code.get(at + 6), all, "mov.u32", other, new SpecialRegister("%cluster_nctarank", ""))
                && is(code.get(at + 7), all, "setp.eq.u32", chosen, other, new Immediate(1, false))
                && is(code.get(at + 8), all, "selp.b32", place, new Immediate(1, false), place, chosen)
                && (condition == null ? is(compare, all, "setp.eq.u32", chosen, place, new Immediate(0, false))
                        : !guard.get().register().equals(chosen)
                                && is(compare, all, "setp.eq.and.u32", chosen, place, new Immediate(0, false), condition));
    }

    private static Operand written(Instruction i) {
        return i.operands().isEmpty() ? null : i.operands().getFirst();
    }

    private static boolean is(Instruction i, Optional<Guard> guard, String mnemonic, Operand... operands) {
        return i.guard().equals(guard) && i.mnemonic().equals(mnemonic) && i.operands().equals(List.of(operands));
    }

    private static boolean isBarrier(Instruction i) {
        return i.opcode().equals("barrier") && i.has("cluster");
    }

    private void pending() throws UnverifiedException {
        int[] before = new int[flow.start.length];
        before[0] = NONE;
        boolean more = true;
        while (more) { // each block changes twice at most
            more = false;
            for (int block : flow.order) {
                int after = after(block, before[block]);
                for (FlowEdge edge : flow.out.get(block)) {
                    more |= (before[edge.to()] | after) != before[edge.to()];
                    before[edge.to()] |= after;
                }
            }
        }
    }

    private int after(int block, int before) throws UnverifiedException {
        int state = before;
        for (int at = flow.start[block]; at < flow.end[block]; at++) {
            Instruction i = body.code.get(at);
            Wait wait = waits.get(at);
            if (wait != null) {
                if (state != (wait.pending() ? PENDING : NONE)) {
                    throw refused(body.code.get(wait.end()), "whether the thread has arrived at the cluster's barrier is not shown");
                }
                at = wait.end();
            } else if ((i.opcode().equals("call") || isBarrier(i) && i.has("arrive")) && (state & PENDING) != 0) {
                throw refused(i, "may come between an arrival at the cluster's barrier and the wait for it");
            } else if (isBarrier(i)) {
                int done = i.has("arrive") ? PENDING : NONE;
                state = i.guard().isPresent() ? state | done : done;
            }
        }
        return state;
    }
}
