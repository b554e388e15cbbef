package io.tessera.guardian.machine;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The functions of a cubin that are involved in waiting for other blocks of their own grid. Immutable.
 *
 * @param waiting functions that may wait, by name, with the first loop or another reason
 * @param loading functions that load data that other blocks may change, or fence memory, so that loads of others may observe them
 * @param calling functions that call functions of other sections in a loop that is not counted
 */
public record BlockWaits(Map<String, String> waiting, Set<String> loading, Set<String> calling) {
    /** Copies the collections. */
    public BlockWaits {
        waiting = Map.copyOf(waiting);
        loading = Set.copyOf(loading);
        calling = Set.copyOf(calling);
    }

    /** Functions that may wait themselves or by what they call, by name. */
    Map<String, String> all(CalledFunctions calls) {
        Map<String, String> loads = new HashMap<>();
        loading.forEach(function -> loads.put(function, "loads"));
        Set<String> mayLoad = calls.handOn(loads, " ").keySet();
        Map<String, String> all = new HashMap<>(waiting);
        calling.stream().filter(function -> calls.named().getOrDefault(function, Set.of()).stream().anyMatch(mayLoad::contains))
                .forEach(function -> all.putIfAbsent(function, "a loop with a call of a function that loads or fences memory"));
        calls.recursive().stream().filter(mayLoad::contains).forEach(function -> all.putIfAbsent(function, "loads, and calls in a circle"));
        calls.byRegister().forEach(function -> all.putIfAbsent(function, "a call by a register"));
        return calls.handOn(all, ", which it may call, has ");
    }
}
