package io.tessera.guardian.machine.align;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.BitSet;
import java.util.List;
import java.util.function.ObjIntConsumer;

/**
 * Known values of the lowest bits of registers over all paths through a section. Results are assumed to be available when compilers expect them: this
 * finds mistakes, but hand-made code may deceive it. One owner thread.
 */
final class AlignmentFlow {
    /** {@code UMOV} of a number. */
    private static final int MOVE = 0x882;
    /** Average number of times, at most, that each instruction is visited. */
    private static final int MOST_WALKS = 64;
    private final SectionFlow flow;
    /** Whether each access is assumed to have aligned addresses, since code before it aligns them. */
    private final boolean aligns;
    /** Indexed by first instruction of a block; null if no known path leads there. */
    private final KnownBits[] atStart;
    /** As above, at the convergence barriers. */
    private final KnownBits[] meeting = new KnownBits[SectionFlow.BARRIERS];
    private final BitSet open = new BitSet();
    /** The knowledge where a section is entered. */
    private final KnownBits nothing = new KnownBits();
    private final KnownBits known = new KnownBits();
    private final LowBitsEffects effects = new LowBitsEffects(known);

    /**
     * Goes all ways until nothing changes.
     *
     * @throws MachineCodeException if that takes too long, as it does in no compiled code
     */
    AlignmentFlow(SectionFlow flow, boolean aligns) throws MachineCodeException {
        this.flow = flow;
        this.aligns = aligns;
        this.atStart = new KnownBits[flow.count()];
        constants();
        solve();
    }

    /**
     * A uniform register to which the section only ever writes one number, as the start of fenced code does, has that number wherever the section is
     * entered.
     */
    private void constants() {
        long changing = 0;
        int[] numbers = new int[InstructionWord.ZERO_UNIFORM + 1];
        long written = 0;
        for (int i = 0; i < flow.count(); i++) {
            MachineOpcode operation = flow.operation(i);
            int first = InstructionWord.uniformDestination(flow.low(i));
            boolean constant = InstructionWord.key(flow.low(i), flow.high(i)) == MOVE
                    && InstructionWord.predicate(flow.low(i)) == InstructionWord.ALWAYS;
            for (int u = first; u < Math.min(first + operation.uniforms(), InstructionWord.ZERO_UNIFORM); u++) {
                int number = InstructionWord.immediate(flow.low(i));
                changing |= !constant || (written >>> u & 1) != 0 && numbers[u] != number ? 1L << u : 0;
                written |= 1L << u;
                numbers[u] = number;
            }
        }
        for (long left = written & ~changing; left != 0; left &= left - 1) {
            int u = Long.numberOfTrailingZeros(left);
            nothing.fix(u, numbers[u]);
        }
    }

    private void solve() throws MachineCodeException {
        for (int at = 0; at < flow.count(); at = flow.blockEnd(at)) {
            if (flow.isEntered(at)) {
                reach(at, nothing);
            }
        }
        long steps = 0;
        for (int at = open.nextSetBit(0); at >= 0; at = open.nextSetBit(at + 1) < 0 ? open.nextSetBit(0) : open.nextSetBit(at + 1)) {
            open.clear(at);
            int end = flow.blockEnd(at);
            steps += end - at;
            if (steps > (long) MOST_WALKS * flow.count()) {
                throw new MachineCodeException("what is known of addresses is not found out in time");
            }
            known.set(atStart[at]);
            for (int i = at; i < end; i++) {
                step(i);
            }
            leave(end - 1);
        }
    }

    private void leave(int last) {
        if (flow.following(last) != SectionFlow.NONE) {
            reach(flow.following(last), known);
        }
        if (flow.jump(last) != SectionFlow.NONE) {
            reach(flow.jump(last), known);
        }
        if (flow.operation(last).kind() == Kind.MEET) {
            int barrier = flow.barrier(last);
            boolean first = meeting[barrier] == null;
            if (first) {
                meeting[barrier] = new KnownBits();
                meeting[barrier].set(known);
            }
            if (meeting[barrier].meet(known) || first) {
                for (int next : flow.meetings(last)) {
                    reach(next, meeting[barrier]);
                }
            }
        }
    }

    private void reach(int block, KnownBits with) {
        if (atStart[block] == null) {
            atStart[block] = new KnownBits();
            atStart[block].set(with);
            open.set(block);
        } else if (atStart[block].meet(with)) {
            open.set(block);
        }
    }

    private void step(int at) {
        List<MemoryAddress> addresses = aligns ? addresses(at) : null;
        if (addresses != null) {
            for (MemoryAddress address : addresses) {
                address.round(known, InstructionWord.predicate(flow.low(at)));
            }
        }
        effects.after(flow.low(at), flow.high(at), flow.operation(at));
    }

    List<MemoryAddress> addresses(int at) {
        return MemoryAddress.of(flow.low(at), flow.high(at), flow.operation(at));
    }

    /** Goes over all instructions, in the order of the code, with what is known before each. */
    void each(ObjIntConsumer<KnownBits> visitor) {
        for (int block = 0; block < flow.count(); block = flow.blockEnd(block)) {
            known.set(atStart[block] == null ? nothing : atStart[block]);
            for (int i = block; i < flow.blockEnd(block); i++) {
                visitor.accept(known, i);
                step(i);
            }
        }
    }
}
