package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.function.IntPredicate;

/** The loops of a section: which are not shown to end by themselves ({@link CountedLoop}) and where they may look. One owner thread. */
public final class SectionLoops {
    /** Maximum number of blocks of a loop that are tried besides the first one, as each costs a walk through the loop. */
    private static final int MOST_TRIED = 16;

    /** {@code UCGABAR_WAIT}. */
    private static final int CLUSTER_WAIT = 0x1dc7;

    private final SectionFlow flow;
    private final IntPredicate ending;
    private LoopGraph graph;
    private CountedLoop counted;
    private RoundCost cost;

    /**
     * Creates the loops of a section. They are computed on first use, which throws {@link MachineCodeException} if it takes too long.
     *
     * @param ending instructions that are only executed by threads that then end at once
     */
    public SectionLoops(SectionFlow flow, IntPredicate ending) {
        this.flow = flow;
        this.ending = ending;
    }

    private LoopGraph graph() throws MachineCodeException {
        if (graph == null) {
            graph = LoopGraph.of(flow);
            counted = new CountedLoop(flow, graph, ending);
            cost = new RoundCost(flow, graph, ending);
        }
        return graph;
    }

    /** Finds a place for a look. */
    @FunctionalInterface
    public interface Placer {
        /**
         * Asks for a look.
         *
         * @param first the first instruction of a block
         * @param last  its last one
         * @param step  what it adds to the counter in a round
         * @return false: the block has no place for one
         */
        boolean place(int first, int last, int step);
    }

    /**
     * Returns the first loop that neither looks nor is shown to end, for users, or else a barrier at which threads may wait for others that
     * never come; null if there is none.
     */
    public String endless(Looks looks) throws MachineCodeException {
        LoopGraph ways = graph();
        RoundCost rounds = new RoundCost(flow, ways, at -> ending.test(at) || looks.isPart(at));
        Deque<BitSet> open = new ArrayDeque<>(ways.cycles(ways.reached()));
        while (!open.isEmpty()) {
            BitSet loop = open.remove();
            if (counted.isCounted(loop)) {
                continue;
            }
            BitSet rest = (BitSet) loop.clone();
            looks.branches(rounds.step(loop)).stream().forEach(branch -> rest.clear(ways.block(branch)));
            if (rest.equals(loop)) {
                boolean seldom = looks.branches(0).stream().anyMatch(branch -> loop.get(ways.block(branch)));
                return "a loop that " + (seldom ? "looks too seldom at" : "does not look at") + " the stop word at offset 0x"
                        + Integer.toHexString(ways.start(loop.nextSetBit(0)) * InstructionWord.BYTES);
            }
            open.addAll(ways.cycles(rest));
        }
        return waitsForOthers();
    }

    /** Returns the role of the section in waiting for other blocks of its grid. Loads of looks at the stop word do not count. */
    public SectionWaits waiting(Looks looks) throws MachineCodeException {
        WaitingLoops waiting = new WaitingLoops(flow, looks::isLoad);
        return waiting.arePossible() ? waiting.find(graph(), counted) : new SectionWaits(null, waiting.loads(), false);
    }

    /** The first call by a register, for users; null: there is none. */
    public String callsByRegister(IntPredicate ended) {
        for (int i = 0; i < flow.count(); i++) {
            if (flow.operation(i).kind() == Kind.CALL_REGISTER && !ended.test(i)) {
                return "a call by a register, which may be its own, at offset 0x" + Integer.toHexString(i * InstructionWord.BYTES);
            }
        }
        return null;
    }

    /**
     * Returns the first barrier at which a thread may wait for others that never come, for users; null if there is none: the wait for a cluster, and a
     * barrier of the block for a number of threads. Threads that have ended, also those that end at a look, do not arrive there. The number is in a register
     * in two forms of the instruction, and in bits 42 to 53 of the others, where 0 is the whole block, of which ended threads count as arrived.
     */
    private String waitsForOthers() {
        for (int i = 0; i < flow.count(); i++) {
            int form = (int) flow.low(i) & 0xfff;
            boolean counted = form == 0x31d || form == 0x91d || (flow.low(i) >>> 42 & 0xfff) != 0;
            if ("BAR".equals(flow.operation(i).name()) && counted) {
                return "a barrier for a number of threads, which may never come, at offset 0x" + Integer.toHexString(i * InstructionWord.BYTES);
            }
            if (InstructionWord.key(flow.low(i), flow.high(i)) == CLUSTER_WAIT) {
                return "a wait for the cluster, which may never come, at offset 0x" + Integer.toHexString(i * InstructionWord.BYTES);
            }
        }
        return null;
    }

    /**
     * Finds places so that every loop looks that is not shown to end, or whose iterations may take long. The block of a loop with the furthest back
     * edge, which compilers lay out first, is tried first, then the others. Long iterations look several times.
     *
     * @return number of loops that are not shown to end and got no place
     */
    public int place(Placer placer) throws MachineCodeException {
        Deque<BitSet> open = new ArrayDeque<>(graph().cycles(graph().reached()));
        BitSet asked = new BitSet();
        int without = 0;
        while (!open.isEmpty()) {
            BitSet loop = open.remove();
            boolean ends = counted.isCounted(loop);
            if (ends && !cost.isSlow(loop)) {
                continue;
            }
            int block = ask(placer, loop);
            without += block < 0 && !ends ? 1 : 0;
            BitSet more = cost.full(loop);
            more.andNot(asked);
            asked.or(more);
            more.stream().filter(each -> each != block).forEach(each -> placer.place(graph.start(each), graph.last(each), (int) RoundCost.MOST));
            BitSet rest = (BitSet) loop.clone();
            rest.clear(block < 0 ? loop.nextSetBit(0) : block);
            open.addAll(graph().cycles(rest));
        }
        return without;
    }

    /** Blocks through which every round of the whole loop passes come first; a loop that looks elsewhere has parts that look, too. */
    private int ask(Placer placer, BitSet loop) throws MachineCodeException {
        int step = cost.step(loop);
        List<Integer> rest = new ArrayList<>();
        int header = loop.nextSetBit(0);
        for (int block = header; block >= 0; block = loop.nextSetBit(block + 1)) {
            BitSet others = (BitSet) loop.clone();
            others.clear(block);
            boolean each = block == header || rest.size() < MOST_TRIED && isNowhereOf(others, header);
            if (each && placer.place(graph().start(block), graph().last(block), step)) {
                return block;
            }
            if (!each) {
                rest.add(block);
            }
        }
        return -1;
    }

    private boolean isNowhereOf(BitSet others, int header) throws MachineCodeException {
        return graph().cycles(others).stream().noneMatch(part -> part.get(header));
    }
}
