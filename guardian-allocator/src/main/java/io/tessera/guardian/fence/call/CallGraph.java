package io.tessera.guardian.fence.call;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.variable.ModuleSymbols;
import io.tessera.guardian.ptx.PtxFunction;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the functions of a module call: finds recursion, and who cannot run because of whom. Stateless. */
public final class CallGraph {
    private CallGraph() {
    }

    /** A function on the way down, and which of its calls are still to be looked at. */
    private record Frame(String name, Iterator<String> callees) {
    }

    /**
     * A function that may call itself, and the refusal for it; or null. The stack would end, and with it the shared context.
     *
     * @param calls what each function calls, dispatchers included
     */
    public static FenceRefusedException recursion(Map<String, List<String>> calls, ModuleSymbols functions) {
        Set<String> done = new HashSet<>();
        for (String start : calls.keySet()) {
            String found = cycle(start, calls, done);
            if (found != null) {
                PtxFunction function = functions.function(found);
                return new FenceRefusedException(found, function == null ? 0 : function.line(),
                        "may call itself, and a stack that overflows would end the shared context");
            }
        }
        return null;
    }

    /** A function on a cycle that can be reached, or null. Chains may be long, so this does not call itself. */
    private static String cycle(String start, Map<String, List<String>> calls, Set<String> done) {
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
                return callee;
            }
            if (!done.contains(callee)) {
                enter(callee, calls, way, active);
            }
        }
        return null;
    }

    private static void enter(String name, Map<String, List<String>> calls, Deque<Frame> way, Set<String> active) {
        active.add(name);
        way.push(new Frame(name, calls.getOrDefault(name, List.of()).iterator()));
    }
}
