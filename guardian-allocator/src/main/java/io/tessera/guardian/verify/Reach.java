package io.tessera.guardian.verify;

import io.tessera.guardian.ptx.Instruction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What functions reach by calls. A function that calls itself, over whatever others, is refused, since the stack is not without end. */
final class Reach {
    private final Map<String, Map<String, Instruction>> calls;
    private final Map<String, UnverifiedException> reasons = new HashMap<>();
    private final Set<String> reaching;
    private final List<String> calleesFirst = new ArrayList<>();

    Reach(Map<String, Map<String, Instruction>> calls, Map<String, UnverifiedException> refused, Set<String> named) {
        this.calls = calls;
        reaching = new HashSet<>(named);
        reasons.putAll(refused);
        order();
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

    /** Why a function cannot be accepted, or null. */
    UnverifiedException refusal(String function) {
        return reasons.get(function);
    }

    /** Whether a function is among those that were named, or calls one that is. */
    boolean reachesNamed(String function) {
        return reaching.contains(function);
    }
}
