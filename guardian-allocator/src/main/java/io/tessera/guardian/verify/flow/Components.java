package io.tessera.guardian.verify.flow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Strongly connected components (Tarjan), without recursion. Used once. */
public final class Components {
    private final int size;
    private final int[][] next;

    /** Computes the components of a graph with this many blocks. */
    public Components(int size, List<FlowEdge> edges) {
        this.size = size;
        int[] counts = new int[size];
        edges.forEach(edge -> counts[edge.from()]++);
        next = new int[size][];
        for (int i = 0; i < size; i++) {
            next[i] = new int[counts[i]];
        }
        edges.forEach(edge -> next[edge.from()][--counts[edge.from()]] = edge.to());
    }

    /**
     * Returns the components that contain a cycle.
     *
     * @param component receives the number of the component of each block
     */
    public List<List<Integer>> cycles(int[] component) {
        List<List<Integer>> cycles = new ArrayList<>();
        int[] index = new int[size];
        int[] low = new int[size];
        int[] at = new int[size];
        int[] path = new int[size];
        int[] stack = new int[size];
        Arrays.fill(index, -1);
        Arrays.fill(component, -1);
        int count = 0;
        int top = 0;
        int number = 0;
        for (int root = 0; root < size; root++) {
            int depth = 0;
            if (index[root] < 0) {
                path[depth++] = root;
                index[root] = low[root] = count++;
                stack[top++] = root;
            }
            while (depth > 0) {
                int v = path[depth - 1];
                if (at[v] < next[v].length) {
                    int w = next[v][at[v]++];
                    if (index[w] < 0) {
                        path[depth++] = w;
                        index[w] = low[w] = count++;
                        stack[top++] = w;
                    } else if (component[w] < 0) {
                        low[v] = Math.min(low[v], index[w]);
                    }
                    continue;
                }
                depth--;
                if (depth > 0) {
                    low[path[depth - 1]] = Math.min(low[path[depth - 1]], low[v]);
                }
                if (low[v] == index[v]) {
                    List<Integer> members = new ArrayList<>(1);
                    int w;
                    do {
                        w = stack[--top];
                        component[w] = number;
                        members.add(w);
                    } while (w != v);
                    number++;
                    boolean self = members.size() == 1 && Arrays.stream(next[v]).anyMatch(each -> each == v);
                    if (members.size() > 1 || self) {
                        cycles.add(members);
                    }
                }
            }
        }
        return cycles;
    }

    /** Returns the components that contain a cycle of these edges. */
    public static List<List<Integer>> cycles(List<FlowEdge> edges) {
        Map<Integer, Integer> numbers = new HashMap<>();
        List<Integer> blocks = new ArrayList<>();
        List<FlowEdge> dense = new ArrayList<>(edges.size());
        for (FlowEdge edge : edges) {
            int from = number(edge.from(), numbers, blocks);
            int to = number(edge.to(), numbers, blocks);
            dense.add(new FlowEdge(from, edge.position(), to, edge.taken()));
        }
        List<List<Integer>> cycles = new Components(blocks.size(), dense).cycles(new int[blocks.size()]);
        cycles.forEach(cycle -> cycle.replaceAll(blocks::get));
        return cycles;
    }

    private static int number(int block, Map<Integer, Integer> numbers, List<Integer> blocks) {
        return numbers.computeIfAbsent(block, each -> {
            blocks.add(each);
            return blocks.size() - 1;
        });
    }
}
