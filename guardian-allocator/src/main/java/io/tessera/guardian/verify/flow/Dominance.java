package io.tessera.guardian.verify.flow;

import java.util.Arrays;
import java.util.List;

/** Dominance between traces (Lengauer and Tarjan, with path compression). Immutable. */
public final class Dominance {
    private final List<List<FlowEdge>> out;
    private final List<List<FlowEdge>> in;
    private final int[] number;
    private final int[] vertex;
    private final int[] parent;
    private final int[] semi;
    private final int[] ancestor;
    private final int[] label;
    private final int[] dominator;
    private final int[] enter;
    private final int[] leave;
    private final int[] path;

    Dominance(List<List<FlowEdge>> out, List<List<FlowEdge>> in, int[] order) {
        int size = out.size();
        this.out = out;
        this.in = in;
        number = new int[size];
        vertex = new int[size];
        parent = new int[size];
        semi = new int[size];
        ancestor = new int[size];
        label = new int[size];
        dominator = new int[size];
        enter = new int[size];
        leave = new int[size];
        path = new int[size];
        Arrays.fill(number, -1);
        Arrays.fill(ancestor, -1);
        int count = size == 0 ? 0 : search();
        compute(count);
        intervals(count);
        if (count != order.length) {
            throw new IllegalStateException("traces are not counted alike");
        }
    }

    private int search() {
        int[] next = new int[number.length];
        int[] stack = new int[number.length];
        int count = 0;
        int depth = 0;
        stack[depth++] = 0;
        number[0] = 0;
        vertex[count++] = 0;
        parent[0] = -1;
        while (depth > 0) {
            int t = stack[depth - 1];
            if (next[t] == out.get(t).size()) {
                depth--;
                continue;
            }
            int to = out.get(t).get(next[t]++).to();
            if (number[to] < 0) {
                number[to] = count;
                vertex[count++] = to;
                parent[to] = t;
                stack[depth++] = to;
            }
        }
        return count;
    }

    private void compute(int count) {
        int[] bucketHead = new int[number.length];
        int[] bucketNext = new int[number.length];
        Arrays.fill(bucketHead, -1);
        for (int i = 0; i < count; i++) {
            int v = vertex[i];
            semi[v] = i;
            label[v] = v;
        }
        for (int i = count - 1; i > 0; i--) {
            int w = vertex[i];
            for (FlowEdge edge : in.get(w)) {
                semi[w] = Math.min(semi[w], semi[eval(edge.from())]);
            }
            int at = vertex[semi[w]];
            bucketNext[w] = bucketHead[at];
            bucketHead[at] = w;
            int p = parent[w];
            ancestor[w] = p;
            for (int v = bucketHead[p]; v >= 0; v = bucketNext[v]) {
                int u = eval(v);
                dominator[v] = semi[u] < semi[v] ? u : p;
            }
            bucketHead[p] = -1;
        }
        for (int i = 1; i < count; i++) {
            int w = vertex[i];
            if (dominator[w] != vertex[semi[w]]) {
                dominator[w] = dominator[dominator[w]];
            }
        }
        if (count > 0) {
            dominator[vertex[0]] = -1;
        }
    }

    private int eval(int v) {
        if (ancestor[v] < 0) {
            return label[v];
        }
        int depth = 0;
        int u = v;
        while (ancestor[ancestor[u]] >= 0) {
            path[depth++] = u;
            u = ancestor[u];
        }
        while (depth > 0) {
            int w = path[--depth];
            if (semi[label[ancestor[w]]] < semi[label[w]]) {
                label[w] = label[ancestor[w]];
            }
            ancestor[w] = ancestor[ancestor[w]];
        }
        return label[v];
    }

    private void intervals(int count) {
        int[] head = new int[number.length];
        int[] next = new int[number.length];
        Arrays.fill(head, -1);
        for (int i = count - 1; i > 0; i--) {
            int v = vertex[i];
            next[v] = head[dominator[v]];
            head[dominator[v]] = v;
        }
        int clock = 0;
        int depth = 0;
        int[] stack = new int[number.length];
        if (count > 0) {
            stack[depth++] = 0;
            enter[0] = clock++;
        }
        while (depth > 0) {
            int v = stack[depth - 1];
            if (head[v] < 0) {
                leave[v] = clock++;
                depth--;
            } else {
                int child = head[v];
                head[v] = next[child];
                enter[child] = clock++;
                stack[depth++] = child;
            }
        }
    }

    boolean reached(int trace) {
        return number[trace] >= 0;
    }

    /** Returns the immediate dominator of a block; -1 for the entry block. */
    public int dominator(int trace) {
        return dominator[trace];
    }

    /** Returns whether every path to the second trace goes through the first, or they are the same. */
    public boolean dominates(int first, int second) {
        return enter[first] <= enter[second] && leave[second] <= leave[first];
    }
}
