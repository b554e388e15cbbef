package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The blocks of a section and the ways of a thread between them, for questions about loops. Other than {@link SectionFlow#successors} it follows which {@code BSSY} may come before a
 * {@code BSYNC}: compilers use a barrier for many places, and otherwise most code would be one loop. A call leads to its function and behind itself, and a return nowhere: a loop of
 * calls is a loop, too. A branch by a table leads to every place that is entered. Functions give barriers back as they found them, as compilers have it. One owner thread.
 */
public final class LoopGraph {
    /** {@code BMOV B, R}: brings a barrier back that was kept elsewhere. */
    private static final int RESTORE = 0x356;
    /** Steps that all questions to a graph may take: blocks, and words of sets. No compiled code comes near, and it takes some seconds. */
    private static final long MOST_STEPS = 1L << 24;
    /** Steps that a word of a kept set counts for, so that all of them are at most 32 MiB. */
    private static final int STEPS_OF_WORD = 4;

    private final SectionFlow flow;
    private final int[] starts;
    /** Indexed by instruction: its block. */
    private final int[] blocks;
    private final int[][] next;
    private final BitSet reached = new BitSet();
    /** Places where threads may meet, sorted; sets of these use the indexes. */
    private final int[] meetings;
    /** Blocks that are entered. */
    private final BitSet entered = new BitSet();
    private long left = MOST_STEPS;

    private LoopGraph(SectionFlow flow) {
        this.flow = flow;
        this.blocks = new int[flow.count()];
        List<Integer> found = new ArrayList<>();
        for (int at = 0; at < flow.count(); at = flow.blockEnd(at)) {
            Arrays.fill(blocks, at, flow.blockEnd(at), found.size());
            found.add(at);
        }
        this.starts = found.stream().mapToInt(Integer::intValue).toArray();
        this.next = new int[starts.length][];
        this.meetings = IntStream.range(0, flow.count()).filter(at -> flow.operation(at).kind() == Kind.MEETING).map(flow::target).sorted().distinct()
                .toArray();
        for (int block = 0; block < starts.length; block++) {
            entered.set(block, flow.isEntered(starts[block]));
        }
    }

    private void take(long steps) throws MachineCodeException {
        left -= steps;
        if (left < 0) {
            throw new MachineCodeException("loops that take too long to find");
        }
    }

    /**
     * Creates the graph of a section. Its time grows with the blocks and the barriers' meetings.
     *
     * @throws MachineCodeException if it takes too long
     */
    public static LoopGraph of(SectionFlow flow) throws MachineCodeException {
        LoopGraph graph = new LoopGraph(flow);
        graph.walk();
        return graph;
    }

    /** Goes all ways, with the meetings that each barrier may have, until nothing changes. */
    private void walk() throws MachineCodeException {
        BitSet[][] known = new BitSet[starts.length][];
        BitSet open = new BitSet();
        for (int block = 0; block < starts.length; block++) {
            if (block == 0 || entered.get(block)) {
                join(known, block, empty(), open);
            }
        }
        while (!open.isEmpty()) {
            int block = open.nextSetBit(0);
            open.clear(block);
            BitSet[] state = new BitSet[SectionFlow.BARRIERS];
            Arrays.setAll(state, barrier -> (BitSet) known[block][barrier].clone());
            for (int i = starts[block]; i <= last(block); i++) {
                step(state, i);
            }
            next[block] = leave(block, state);
            for (int to : next[block]) {
                join(known, to, state, open);
            }
        }
    }

    private static BitSet[] empty() {
        BitSet[] state = new BitSet[SectionFlow.BARRIERS];
        Arrays.setAll(state, _ -> new BitSet());
        return state;
    }

    private void join(BitSet[][] known, int block, BitSet[] state, BitSet open) throws MachineCodeException {
        boolean changed = !reached.get(block);
        reached.set(block);
        known[block] = known[block] == null ? empty() : known[block];
        for (int barrier = 0; barrier < SectionFlow.BARRIERS; barrier++) {
            take(1 + STEPS_OF_WORD * (long) (state[barrier].length() / Long.SIZE));
            int before = known[block][barrier].cardinality();
            known[block][barrier].or(state[barrier]);
            changed |= known[block][barrier].cardinality() != before;
        }
        open.set(block, open.get(block) || changed);
    }

    /** State: by barrier, the meetings where its threads may go on. */
    private void step(BitSet[] state, int at) {
        Kind kind = flow.operation(at).kind();
        if (kind == Kind.MEETING) {
            state[flow.barrier(at)].clear();
            state[flow.barrier(at)].set(Arrays.binarySearch(meetings, flow.target(at)));
        } else if (InstructionWord.key(flow.low(at), flow.high(at)) == RESTORE) {
            state[flow.barrier(at)].set(0, meetings.length);
        }
    }

    private int[] leave(int block, BitSet[] state) throws MachineCodeException {
        int last = last(block);
        Kind kind = flow.operation(last).kind();
        BitSet to = new BitSet();
        if (flow.following(last) != SectionFlow.NONE) {
            to.set(blocks[flow.following(last)]);
        }
        if (flow.jump(last) != SectionFlow.NONE) {
            to.set(blocks[flow.jump(last)]);
        }
        if (kind == Kind.CALL) {
            to.set(blocks[flow.target(last)]);
        } else if (kind == Kind.MEET) {
            state[flow.barrier(last)].stream().forEach(meeting -> to.set(blocks[meetings[meeting]]));
        } else if (kind == Kind.INDIRECT_BRANCH) {
            to.or(entered);
        }
        take(to.size() / Long.SIZE + STEPS_OF_WORD * (long) to.cardinality());
        return to.stream().toArray();
    }

    /** The first instruction of a block. */
    public int start(int block) {
        return starts[block];
    }

    /** The last instruction of a block. */
    public int last(int block) {
        return block + 1 < starts.length ? starts[block + 1] - 1 : flow.count() - 1;
    }

    /** The block of an instruction. */
    public int block(int at) {
        return blocks[at];
    }

    /** The blocks to which a block leads; not to be changed. */
    int[] next(int block) {
        return next[block];
    }

    /** Some blocks, and those of functions in the section that are called there. */
    BitSet withCalled(BitSet blocks) throws MachineCodeException {
        BitSet all = (BitSet) blocks.clone();
        Deque<Integer> open = new ArrayDeque<>();
        blocks.stream().map(this::last).filter(last -> flow.operation(last).kind() == Kind.CALL)
                .forEach(last -> open.add(this.blocks[flow.target(last)]));
        while (!open.isEmpty()) {
            int block = open.remove();
            if (!all.get(block)) {
                take(1 + next[block].length);
                all.set(block);
                Arrays.stream(next[block]).forEach(open::add);
            }
        }
        return all;
    }

    /** Blocks to which some way leads; a copy. */
    public BitSet reached() {
        return (BitSet) reached.clone();
    }

    /**
     * Returns the strongly connected parts of some blocks, which contain all their loops.
     *
     * @param within the blocks that count
     * @return sets of blocks; none if every path through these blocks ends
     * @throws MachineCodeException if all queries so far together take too long
     */
    public List<BitSet> cycles(BitSet within) throws MachineCodeException {
        take(starts.length);
        return new Components(within).find();
    }

    /** Tarjan's algorithm, without recursion. */
    private final class Components {
        private final BitSet within;
        private final int[] number = new int[starts.length];
        private final int[] lowest = new int[starts.length];
        private final int[] taken = new int[starts.length];
        private final BitSet kept = new BitSet();
        private final Deque<Integer> stack = new ArrayDeque<>();
        private final Deque<Integer> way = new ArrayDeque<>();
        private final List<BitSet> found = new ArrayList<>();
        private int count;

        private Components(BitSet within) {
            this.within = within;
        }

        private List<BitSet> find() throws MachineCodeException {
            for (int root = within.nextSetBit(0); root >= 0; root = within.nextSetBit(root + 1)) {
                if (number[root] == 0 && reached.get(root)) {
                    enter(root);
                    while (!way.isEmpty()) {
                        go(way.peek());
                    }
                }
            }
            return found;
        }

        private void enter(int block) throws MachineCodeException {
            LoopGraph.this.take(next[block].length);
            count++;
            number[block] = count;
            lowest[block] = count;
            kept.set(block);
            stack.push(block);
            way.push(block);
        }

        private void go(int block) throws MachineCodeException {
            while (taken[block] < next[block].length) {
                int to = next[block][taken[block]++];
                if (within.get(to) && number[to] == 0) {
                    enter(to);
                    return;
                }
                if (within.get(to) && kept.get(to)) {
                    lowest[block] = Math.min(lowest[block], number[to]);
                }
            }
            way.pop();
            if (!way.isEmpty()) {
                lowest[way.peek()] = Math.min(lowest[way.peek()], lowest[block]);
            }
            if (lowest[block] == number[block]) {
                part(block);
            }
        }

        private void part(int root) throws MachineCodeException {
            LoopGraph.this.take((starts.length + Long.SIZE - 1) / Long.SIZE);
            BitSet part = new BitSet();
            int block;
            do {
                block = stack.pop();
                kept.clear(block);
                part.set(block);
            } while (block != root);
            boolean itself = Arrays.stream(next[root]).anyMatch(to -> to == root);
            if (part.cardinality() > 1 || itself) {
                found.add(part);
            }
        }
    }
}
