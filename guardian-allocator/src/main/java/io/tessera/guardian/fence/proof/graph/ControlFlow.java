package io.tessera.guardian.fence.proof.graph;

import java.util.Arrays;

/**
 * Basic blocks of a function and all ways between them that control may take, or more. Every edge from a block with several
 * successors to one with several predecessors has an empty block of its own, so that what a branch says about its registers has a
 * place. Block 0 is the entry. Immutable once built.
 */
public final class ControlFlow {
    private final FlatCode code;
    private final IntArray starts = new IntArray();
    private final IntArray ends = new IntArray();
    private int[] blockAt;
    private int[][] successors;
    private int[][] predecessors;
    private int[] order;
    private int[] orderOf;

    private ControlFlow(FlatCode code) {
        this.code = code;
        build();
        findOrder();
    }

    /** The graph of complete code. */
    static ControlFlow of(FlatCode code) {
        return new ControlFlow(code);
    }

    private void build() {
        int size = code.size();
        boolean[] leads = new boolean[size + 1];
        leads[0] = true;
        for (int i = 0; i < size; i++) {
            for (int target : code.targets(i)) {
                leads[target] = true;
            }
            leads[i + 1] |= ends(i);
        }
        // An empty entry block: a branch to the first instruction makes that one a loop's head like any other.
        addBlock(0, 0);
        blockAt = new int[size + 1];
        for (int i = 0; i < size; i++) {
            if (leads[i]) {
                addBlock(i, i);
            }
            blockAt[i] = starts.size() - 1;
            ends.set(starts.size() - 1, i + 1);
        }
        addBlock(size, size);
        blockAt[size] = starts.size() - 1;
        int plain = starts.size();
        int[][] next = new int[plain][];
        next[0] = new int[] {1};
        for (int b = 1; b < plain - 1; b++) {
            next[b] = leaving(ends.get(b) - 1);
        }
        next[plain - 1] = new int[0];
        split(next);
    }

    private void addBlock(int start, int end) {
        starts.add(start);
        ends.add(end);
    }

    private boolean ends(int index) {
        return switch (code.instruction(index).opcode()) {
            case "bra", "brx", "ret", "exit" -> true;
            default -> false;
        };
    }

    /** Returns whether it may end the function. */
    private boolean leaves(int index) {
        String opcode = code.instruction(index).opcode();
        return opcode.equals("ret") || opcode.equals("exit");
    }

    private int[] leaving(int last) {
        IntArray next = new IntArray();
        // First where a branch goes, last what follows it: see taken().
        for (int target : code.targets(last)) {
            next.addIfNew(blockAt[target]);
        }
        if (!ends(last) || code.instruction(last).guard().isPresent()) {
            next.addIfNew(blockAt[last + 1]);
        }
        return next.toArray();
    }

    private void split(int[][] next) {
        int[] incoming = new int[next.length];
        for (int[] each : next) {
            for (int to : each) {
                incoming[to]++;
            }
        }
        int extra = 0;
        for (int[] each : next) {
            for (int to : each) {
                extra += each.length > 1 && incoming[to] > 1 ? 1 : 0;
            }
        }
        successors = Arrays.copyOf(next, next.length + extra);
        int free = next.length;
        for (int[] each : next) {
            for (int i = 0; i < each.length; i++) {
                if (each.length > 1 && incoming[each[i]] > 1) {
                    addBlock(starts.get(each[i]), starts.get(each[i]));
                    successors[free] = new int[] {each[i]};
                    each[i] = free++;
                }
            }
        }
        IntArray[] back = new IntArray[successors.length];
        Arrays.setAll(back, unused -> new IntArray());
        for (int b = 0; b < successors.length; b++) {
            for (int to : successors[b]) {
                back[to].add(b);
            }
        }
        predecessors = Arrays.stream(back).map(IntArray::toArray).toArray(int[][]::new);
    }

    /** Reverse postorder of what can be reached. */
    private void findOrder() {
        int count = successors.length;
        orderOf = new int[count];
        Arrays.fill(orderOf, -1);
        boolean[] seen = new boolean[count];
        int[] at = new int[count];
        IntArray stack = new IntArray();
        IntArray done = new IntArray();
        stack.add(0);
        seen[0] = true;
        while (!stack.isEmpty()) {
            int block = stack.get(stack.size() - 1);
            if (at[block] < successors[block].length) {
                int to = successors[block][at[block]++];
                if (!seen[to]) {
                    seen[to] = true;
                    stack.add(to);
                }
            } else {
                done.add(stack.removeLast());
            }
        }
        order = new int[done.size()];
        for (int i = 0; i < order.length; i++) {
            order[i] = done.get(order.length - 1 - i);
            orderOf[order[i]] = i;
        }
    }

    /** Returns the number of blocks. */
    public int blocks() {
        return successors.length;
    }

    /** The block of an instruction. */
    public int blockOf(int index) {
        return blockAt[index];
    }

    /** First instruction of a block. */
    public int start(int block) {
        return starts.get(block);
    }

    /** Returns the index after its last instruction. */
    public int end(int block) {
        return ends.get(block);
    }

    /** Blocks that may follow a block. Not to be changed. */
    public int[] successors(int block) {
        return successors[block];
    }

    /** Blocks that a block may follow. Not to be changed. */
    public int[] predecessors(int block) {
        return predecessors[block];
    }

    /** The blocks that can be reached, each before its successors where loops allow it. */
    int[] order() {
        return order;
    }

    /** Position in {@link #order()}, or -1 for a block that cannot be reached. */
    int orderOf(int block) {
        return orderOf[block];
    }

    /**
     * Returns whether the conditional branch at the end of a block goes to a successor because its guard held (true) or did not hold (false); null if
     * that is not known.
     */
    Boolean taken(int block, int successor) {
        if (end(block) > start(block) && successors[block].length == 1 && leaves(end(block) - 1)) {
            return false;
        }
        if (end(block) == start(block) || successors[block].length != 2 || code.targets(end(block) - 1).length != 1) {
            return null;
        }
        return successors[block][0] == successor;
    }
}
