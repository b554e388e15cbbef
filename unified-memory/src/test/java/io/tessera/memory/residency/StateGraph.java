package io.tessera.memory.residency;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/** All states of a model that events lead to, and the states from which helpful events reached each of them. Not thread-safe. */
final class StateGraph {
    private final Map<ByteBuffer, Integer> numbers = new HashMap<>();
    private final List<byte[]> states = new ArrayList<>();
    private final List<List<Integer>> before = new ArrayList<>();
    private long events;

    int size() {
        return states.size();
    }

    long events() {
        return events;
    }

    /**
     * Explores all states.
     *
     * @param check   throws if an invariant fails in a state
     * @param helpful returns the states after events that happen at some time, unless another comes first
     * @param harmful returns the states after events that need not happen
     * @param most    maximum number of states
     */
    void explore(byte[] start, Consumer<byte[]> check, Function<byte[], List<byte[]>> helpful, Function<byte[], List<byte[]>> harmful,
            int most) {
        ArrayDeque<Integer> unvisited = new ArrayDeque<>(List.of(number(start)));
        while (!unvisited.isEmpty()) {
            int from = unvisited.poll();
            byte[] state = states.get(from);
            check.accept(state);
            helpful.apply(state).forEach(to -> arrive(from, to, true, unvisited));
            harmful.apply(state).forEach(to -> arrive(from, to, false, unvisited));
            if (states.size() > most) {
                throw new IllegalStateException("more than " + most + " states");
            }
        }
    }

    private void arrive(int from, byte[] state, boolean helps, ArrayDeque<Integer> unvisited) {
        events++;
        int known = states.size();
        int to = number(state);
        if (helps) {
            before.get(to).add(from);
        }
        if (to == known) {
            unvisited.add(to);
        }
    }

    private int number(byte[] state) {
        return numbers.computeIfAbsent(ByteBuffer.wrap(state), key -> {
            states.add(state);
            before.add(new ArrayList<>());
            return states.size() - 1;
        });
    }

    /** Returns a state from which no helpful events lead to a wanted one; null: there is none. */
    byte[] withoutWayTo(Predicate<byte[]> wanted) {
        boolean[] leads = new boolean[states.size()];
        ArrayDeque<Integer> queue = new ArrayDeque<>();
        for (int i = 0; i < leads.length; i++) {
            leads[i] = wanted.test(states.get(i));
            if (leads[i]) {
                queue.add(i);
            }
        }
        while (!queue.isEmpty()) {
            for (int from : before.get(queue.poll())) {
                if (!leads[from]) {
                    leads[from] = true;
                    queue.add(from);
                }
            }
        }
        for (int i = 0; i < leads.length; i++) {
            if (!leads[i]) {
                return states.get(i);
            }
        }
        return null;
    }
}
