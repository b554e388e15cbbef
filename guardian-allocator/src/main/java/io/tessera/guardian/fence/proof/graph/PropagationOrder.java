package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.Arrays;
import java.util.TreeSet;

/** The order in which values are computed, and the values that depend on each. Immutable. */
public final class PropagationOrder {
    private static final int MOST_CONSTANTS = 64;
    /** Values at which widening stops, besides the constants that the function compares with. */
    private static final long[] STOPS = {-(1L << 40), -(1L << 33), Integer.MIN_VALUE, -1, 0, 255, 1023, 65535,
            Integer.MAX_VALUE - 1, Integer.MAX_VALUE, (1L << 32) - 2, (1L << 32) - 1, 1L << 33, 1L << 40};

    private final FlatCode code;
    private final ControlFlow flow;
    private final Ssa ssa;
    private final int[] order;
    private final int[] orderOf;
    private final int[] userStarts;
    private final int[] users;
    private final boolean[] closes;
    private final TreeSet<Long> stops = new TreeSet<>();

    PropagationOrder(FlatCode code, ControlFlow flow, Ssa ssa) {
        this.code = code;
        this.flow = flow;
        this.ssa = ssa;
        order = new int[ssa.values()];
        orderOf = new int[ssa.values()];
        userStarts = new int[ssa.values() + 1];
        users = findUsers();
        closes = new boolean[flow.blocks()];
        sort();
        findStops();
    }

    /** Values by blocks, phis first, so that most values come after those that they are made of. */
    private void sort() {
        int[] starts = new int[flow.blocks() + 1];
        for (int v = 0; v < order.length; v++) {
            starts[flow.orderOf(ssa.block(v)) + 1]++;
        }
        for (int b = 0; b < flow.blocks(); b++) {
            starts[b + 1] += starts[b];
        }
        for (int v = 0; v < order.length; v++) {
            orderOf[v] = starts[flow.orderOf(ssa.block(v))]++;
            order[orderOf[v]] = v;
        }
        for (int block : flow.order()) {
            for (int from : flow.predecessors(block)) {
                closes[block] |= flow.orderOf(from) >= flow.orderOf(block);
            }
        }
    }

    private interface Edge {
        void from(int value, int user);
    }

    private void edges(Edge edge) {
        for (int v = 0; v < ssa.values(); v++) {
            for (int input : ssa.inputs(v)) {
                if (input != Ssa.NONE) {
                    edge.from(input, v);
                }
            }
            SsaKind kind = ssa.kind(v);
            if (kind == SsaKind.RESULT || kind == SsaKind.REFINED) {
                for (int input : ssa.uses(ssa.instruction(v))) {
                    if (input != Ssa.NONE) {
                        edge.from(input, v);
                    }
                }
            }
        }
    }

    private int[] findUsers() {
        edges((value, user) -> userStarts[value + 1]++);
        for (int v = 0; v < ssa.values(); v++) {
            userStarts[v + 1] += userStarts[v];
        }
        int[] found = new int[userStarts[ssa.values()]];
        int[] at = Arrays.copyOf(userStarts, userStarts.length);
        edges((value, user) -> found[at[value]++] = user);
        return found;
    }

    private void findStops() {
        for (long stop : STOPS) {
            stops.add(stop);
        }
        int left = MOST_CONSTANTS;
        for (int i = 0; i < code.size() && left > 0; i++) {
            Instruction instruction = code.instruction(i);
            if (instruction.opcode().equals("setp") && instruction.operands().size() > 2
                    && instruction.operands().get(2) instanceof Operand.Immediate(long value, boolean unsigned)) {
                for (long near = -1; near <= 1; near++) {
                    left -= stops.add(value + near) ? 1 : 0;
                }
            }
        }
    }

    int values() {
        return order.length;
    }

    /** The value at a place of the order. */
    public int value(int place) {
        return order[place];
    }

    /** The place of a value in the order. */
    public int place(int value) {
        return orderOf[value];
    }

    /** First index, for {@link #user}, of the values that are computed from a value. */
    public int firstUser(int value) {
        return userStarts[value];
    }

    /** Returns the index after the last user. */
    public int endOfUsers(int value) {
        return userStarts[value + 1];
    }

    /** The user at an index, out of the range that belongs to a value. */
    public int user(int index) {
        return users[index];
    }

    /** Returns whether a loop closes at a block. */
    public boolean closes(int block) {
        return closes[block];
    }

    /** Returns the values at which widening stops. Must not be changed. */
    public TreeSet<Long> stops() {
        return stops;
    }
}
