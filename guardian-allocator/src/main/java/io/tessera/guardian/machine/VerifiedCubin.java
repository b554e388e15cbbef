package io.tessera.guardian.machine;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Results of the verifier for a cubin that is to be loaded. Immutable.
 *
 * @param refused    why functions are not seen to be fenced, by name; empty: all are
 * @param tensorMaps where in the parameters of a kernel the tensor maps lie that it copies by, in bytes from their start; by name. A kernel
 *         with maps is fenced as far as its launcher makes sure that they were made for its program
 * @param trusted    functions that are fenced if their code is what a compiler makes, by name, with the first thing that was not shown. Hand-made code may leave the
 *                   window there
 * @param endless    functions with a loop that neither looks at the stop word nor is shown to end, by name, with the first one; all functions where the fence has no stop word
 * @param misaligned functions with an access whose address is not seen to be a multiple of what it needs, by name, with the first one; none where the fence does not align. As far as
 *                   results are there when compilers have them there
 * @param waits      which functions may wait for other blocks of their grid
 * @param calls      which functions may call which
 */
public record VerifiedCubin(Map<String, String> refused, Map<String, TensorMapPlaces> tensorMaps, Map<String, String> trusted,
        Map<String, String> endless, Map<String, String> misaligned, BlockWaits waits, CalledFunctions calls) {
    /** Copies the maps. */
    public VerifiedCubin {
        refused = Map.copyOf(refused);
        tensorMaps = Map.copyOf(tensorMaps);
        trusted = Map.copyOf(trusted);
        endless = Map.copyOf(endless);
        misaligned = Map.copyOf(misaligned);
    }

    /** Whether all of it stays in the window, from any compiler. */
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
        return calls.handOn(all, " has no fence: ");
    }

    /** What is taken on trust in functions, and in functions that they may call, by name. */
    public Map<String, String> takenOnTrust() {
        return calls.handOn(trusted, ", which it may call, has ");
    }

    /** Functions that may end the context by an address that is not aligned, and those that may call them, by name. */
    public Map<String, String> mayMisalign() {
        return calls.handOn(misaligned, ", which it may call, has ");
    }

    /** Functions that may run for ever, and those that may call them or themselves, by name. */
    public Map<String, String> mayBeEndless() {
        Map<String, String> all = new HashMap<>(endless);
        calls.recursive().forEach(function -> all.putIfAbsent(function, "calls in a circle"));
        return calls.handOn(all, ", which it may call, has ");
    }

    /** Functions in which a thread may wait for another block of its grid, or which may call such functions, by name. All that are refused are among them. */
    public Map<String, String> mayWaitForBlocks() {
        return waits.all(calls);
    }
}
