package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.PtxFunction;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the functions of a module call: finds recursion, and who cannot run because of whom. Stateless. */
final class CallGraph {
    private static final int DEEPEST = 500;

    private CallGraph() {
    }

    /**
     * A function that may call itself, and the refusal for it; or null. The stack would end, and with it the shared context.
     *
     * @param calls what each function calls, dispatchers included
     */
    static FenceRefusedException recursion(Map<String, List<String>> calls, ModuleSymbols functions) {
        Set<String> done = new HashSet<>();
        for (String start : calls.keySet()) {
            FenceRefusedException found = visit(start, calls, functions, done, new HashSet<>());
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static FenceRefusedException visit(String name, Map<String, List<String>> calls, ModuleSymbols functions,
            Set<String> done, Set<String> active) {
        if (done.contains(name)) {
            return null;
        }
        PtxFunction function = functions.function(name);
        int line = function == null ? 0 : function.line();
        if (active.size() > DEEPEST) {
            return new FenceRefusedException(name, line, "stands at the end of a chain of more than " + DEEPEST + " calls");
        }
        if (!active.add(name)) {
            return new FenceRefusedException(name, line,
                    "may call itself, and a stack that overflows would end the shared context");
        }
        for (String callee : calls.getOrDefault(name, List.of())) {
            FenceRefusedException found = visit(callee, calls, functions, done, active);
            if (found != null) {
                return found;
            }
        }
        active.remove(name);
        done.add(name);
        return null;
    }
}
