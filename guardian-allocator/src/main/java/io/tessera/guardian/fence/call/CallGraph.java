package io.tessera.guardian.fence.call;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The call graph of a module's functions; finds recursion. Stateless. */
public final class CallGraph {
    private CallGraph() {
    }

    /** A function on the way down, and which of its calls are still to be looked at. */
    private record Frame(String name, Iterator<String> callees) {
    }

    /**
     * Returns functions that may call themselves, at least one of each cycle; without them there is no recursion. The order is that of discovery.
     * Each function and call is visited once.
     *
     * @param calls callees of each function, with or without dispatchers
     */
    public static Set<String> recursive(Map<String, List<String>> calls) {
        Set<String> found = new LinkedHashSet<>();
        Set<String> done = new HashSet<>();
        calls.keySet().forEach(start -> search(start, calls, done, found));
        return found;
    }

    /** Chains may be long, so this does not call itself. */
    private static void search(String start, Map<String, List<String>> calls, Set<String> done, Set<String> found) {
        Deque<Frame> way = new ArrayDeque<>();
        Set<String> active = new HashSet<>();
        if (!done.contains(start)) {
            enter(start, calls, way, active);
        }
        while (!way.isEmpty()) {
            Frame frame = way.peek();
            if (!frame.callees().hasNext()) {
                way.pop();
                active.remove(frame.name());
                done.add(frame.name());
                continue;
            }
            String callee = frame.callees().next();
            if (active.contains(callee)) {
                found.add(callee);
            } else if (!done.contains(callee)) {
                enter(callee, calls, way, active);
            }
        }
    }

    private static void enter(String name, Map<String, List<String>> calls, Deque<Frame> way, Set<String> active) {
        active.add(name);
        way.push(new Frame(name, calls.getOrDefault(name, List.of()).iterator()));
    }
}
