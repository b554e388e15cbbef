package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.FunctionReport;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is seen of a cubin that is to be loaded. Immutable.
 *
 * @param refused    why functions are not seen to be fenced, by name; empty: all are
 * @param tensorMaps where in the parameters of a kernel the tensor maps lie that it copies by, in bytes from their start; by name. A kernel with maps is fenced
 *                   as far as whoever launches it makes sure that they were made for its program
 * @param trusted    functions that are fenced if their code is what a compiler makes, by name, with the first thing that was not shown. Hand-made code may leave the
 *                   window there
 * @param calls      the functions that a function calls, by name; one that calls by a register may call any that is no kernel. Functions that call none are left out
 */
public record VerifiedCubin(Map<String, String> refused, Map<String, TensorMapPlaces> tensorMaps, Map<String, String> trusted,
        Map<String, Set<String>> calls) {
    /** Copies the maps. */
    public VerifiedCubin {
        refused = Map.copyOf(refused);
        tensorMaps = Map.copyOf(tensorMaps);
        trusted = Map.copyOf(trusted);
        calls = Map.copyOf(calls);
    }

    /** Whether all of it stays in the window whoever wrote it. */
    public boolean isShown() {
        return refused.isEmpty() && trusted.isEmpty();
    }

    /**
     * Why functions have no fence: those that the fencer left as they were, those that are not seen to be fenced, and those that may call such a function.
     *
     * @param reports of the fencer
     * @return by name
     */
    public Map<String, String> unfenced(List<FunctionReport> reports) {
        Map<String, String> all = new HashMap<>(refused);
        reports.stream().filter(report -> !report.isFenced()).forEach(report -> all.put(report.name(), report.refusal()));
        return ofCallers(all, " has no fence: ");
    }

    /** What is taken on trust in functions, and in functions that they may call, by name. */
    public Map<String, String> takenOnTrust() {
        return ofCallers(trusted, ", which it may call, has ");
    }

    /** What is said of functions, and of those that call them, directly or not; a function's own reason comes first. */
    private Map<String, String> ofCallers(Map<String, String> said, String words) {
        Map<String, String> all = new HashMap<>(said);
        for (String caller : calls.keySet()) {
            String function = said.containsKey(caller) ? null : firstReached(caller, said.keySet());
            if (function != null) {
                all.put(caller, "function " + function + words + said.get(function));
            }
        }
        return all;
    }

    /** A function of a set that another may call; null: it can call none. */
    private String firstReached(String caller, Set<String> wanted) {
        Set<String> seen = new HashSet<>();
        Deque<String> open = new ArrayDeque<>(calls.get(caller));
        while (!open.isEmpty()) {
            String function = open.remove();
            if (wanted.contains(function)) {
                return function;
            }
            if (seen.add(function)) {
                open.addAll(calls.getOrDefault(function, Set.of()));
            }
        }
        return null;
    }
}
