package io.tessera.guardian.verify.module;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The functions that each function reaches by calls. A function that calls itself, directly or indirectly, is refused, since the stack is finite. */
final class Reach {
    private final Map<String, Map<String, Instruction>> calls = new LinkedHashMap<>();
    private final Map<String, UnverifiedException> reasons = new HashMap<>();
    private final Set<String> reaching = new HashSet<>();
    private final List<String> calleesFirst = new ArrayList<>();

    Reach(ModuleNames module) {
        for (PtxFunction function : module.functions.values()) {
            if (function.body().isPresent()) {
                calls.put(function.name(), callees(function, module));
            }
        }
        order();
    }

    private static Map<String, Instruction> callees(PtxFunction function, ModuleNames module) {
        Map<String, Instruction> found = new LinkedHashMap<>();
        for (Statement statement : function.body().orElseThrow().statements()) {
            if (statement instanceof Instruction i && i.opcode().equals("call")) {
                for (Operand operand : i.operands()) {
                    PtxFunction callee = operand instanceof Operand.Symbol(String name, long _) ? module.function(name) : null;
                    if (callee != null && callee.body().isPresent()) {
                        found.putIfAbsent(callee.name(), i);
                    }
                }
            }
        }
        return found;
    }

    private void order() {
        Map<String, Integer> state = new HashMap<>();
        for (String root : calls.keySet()) {
            List<String> path = new ArrayList<>();
            List<Iterator<String>> left = new ArrayList<>();
            if (state.putIfAbsent(root, 1) == null) {
                path.add(root);
                left.add(calls.get(root).keySet().iterator());
            }
            while (!path.isEmpty()) {
                String name = path.getLast();
                if (!left.getLast().hasNext()) {
                    path.removeLast();
                    left.removeLast();
                    state.put(name, 2);
                    calleesFirst.add(name);
                    continue;
                }
                String callee = left.getLast().next();
                if (state.getOrDefault(callee, 0) == 1) {
                    reasons.putIfAbsent(name, new UnverifiedException(calls.get(name).get(callee).line(), "'" + callee + "' calls itself"));
                } else if (calls.containsKey(callee) && state.putIfAbsent(callee, 1) == null) {
                    path.add(callee);
                    left.add(calls.get(callee).keySet().iterator());
                }
            }
        }
    }

    /** Functions with a body, each before those that it calls, as far as none calls itself. */
    List<String> callersFirst() {
        return calleesFirst.reversed();
    }

    /**
     * Takes the results for each function.
     *
     * @param refused functions that are not accepted, with the reasons
     * @param named   functions for queries with {@link #reachesNamed}
     */
    void found(Map<String, UnverifiedException> refused, Set<String> named) {
        reaching.addAll(named);
        reasons.putAll(refused);
        for (String name : calleesFirst) {
            for (String callee : calls.get(name).keySet()) {
                UnverifiedException why = reasons.get(callee);
                if (why != null) {
                    reasons.putIfAbsent(name, why);
                }
                if (reaching.contains(callee)) {
                    reaching.add(name);
                }
            }
        }
    }

    /** Why a function cannot be accepted, or null. */
    UnverifiedException refusal(String function) {
        return reasons.get(function);
    }

    /** Returns whether a function is among those that were named, or calls one of them. */
    boolean reachesNamed(String function) {
        return reaching.contains(function);
    }
}
