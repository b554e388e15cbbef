package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.PtxFunction;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Refuses recursion: the stack would end, and with it the shared context. Stateless. */
final class CallGraph {
    private static final int DEEPEST = 500;

    private CallGraph() {
    }

    /**
     * Looks for a cycle.
     *
     * @param calls     what each function calls, dispatchers included
     * @param functions for the line of what is found
     */
    static void refuseRecursion(Map<String, List<String>> calls, ModuleSymbols functions) throws FenceRefusedException {
        Set<String> done = new HashSet<>();
        for (String start : calls.keySet()) {
            visit(start, calls, functions, done, new HashSet<>());
        }
    }

    private static void visit(String name, Map<String, List<String>> calls, ModuleSymbols functions, Set<String> done,
            Set<String> active) throws FenceRefusedException {
        if (done.contains(name)) {
            return;
        }
        if (active.size() > DEEPEST) {
            throw new FenceRefusedException(name, 0, "stands at the end of a chain of more than " + DEEPEST + " calls");
        }
        if (!active.add(name)) {
            PtxFunction function = functions.function(name);
            throw new FenceRefusedException(name, function == null ? 0 : function.line(),
                    "may call itself, and a stack that overflows would end the shared context");
        }
        for (String callee : calls.getOrDefault(name, List.of())) {
            visit(callee, calls, functions, done, active);
        }
        active.remove(name);
        done.add(name);
    }
}
