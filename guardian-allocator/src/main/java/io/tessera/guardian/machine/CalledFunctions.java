package io.tessera.guardian.machine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The calls that are possible between functions of a cubin, by name. Immutable.
 *
 * @param named      the functions that a function's calls name, kernels among them; functions without such calls are left out
 * @param byRegister functions that call through a register, and so possibly any function that is not a kernel
 * @param functions  functions that are not kernels
 */
public record CalledFunctions(Map<String, Set<String>> named, Set<String> byRegister, Set<String> functions) {
    /** A name of a megabyte may be said of each of many callers. */
    private static final int LONGEST_NAME = 400;

    /** Copies the collections. */
    public CalledFunctions {
        named = Map.copyOf(named);
        byRegister = Set.copyOf(byRegister);
        functions = Set.copyOf(functions);
    }

    /** Functions whose calls may come back to a function that has not returned, by calls that name them. Takes time and memory that grow with the calls. */
    public Set<String> recursive() {
        Map<String, List<String>> callers = callers();
        Map<String, Integer> left = new HashMap<>();
        named.forEach((function, called) -> left.put(function, called.size()));
        Deque<String> ended = new ArrayDeque<>(callers.keySet());
        ended.removeIf(left::containsKey);
        while (!ended.isEmpty()) {
            for (String caller : callers.getOrDefault(ended.remove(), List.of())) {
                if (left.merge(caller, -1, Integer::sum) == 0) {
                    left.remove(caller);
                    ended.add(caller);
                }
            }
        }
        return left.keySet();
    }

    private Map<String, List<String>> callers() {
        Map<String, List<String>> callers = new HashMap<>();
        named.forEach((caller, called) -> called.forEach(function -> callers.computeIfAbsent(function, _ -> new ArrayList<>()).add(caller)));
        return callers;
    }

    /**
     * Passes the findings of functions on to those that call them, directly or not. Takes time and memory that grow with the calls.
     *
     * @param said  of functions, by name; a function's own comes first
     * @param words between the name of the called function and its finding
     * @return all of it
     */
    public Map<String, String> handOn(Map<String, String> said, String words) {
        Map<String, List<String>> callers = callers();
        Map<String, String> all = new TreeMap<>(said);
        Map<String, String> sources = new HashMap<>();
        Deque<String> open = new ArrayDeque<>(all.keySet());
        boolean any = false;
        while (!open.isEmpty()) {
            String function = open.remove();
            String source = sources.getOrDefault(function, function);
            List<String> next = new ArrayList<>(callers.getOrDefault(function, List.of()));
            if (!any && functions.contains(function)) {
                any = true;
                next.addAll(byRegister);
            }
            for (String caller : next) {
                if (all.putIfAbsent(caller, "function " + PrintableText.of(source, LONGEST_NAME) + words + said.get(source)) == null) {
                    sources.put(caller, source);
                    open.add(caller);
                }
            }
        }
        return all;
    }
}
