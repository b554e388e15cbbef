package io.tessera.guardian.machine;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Results of the verifier for a cubin that is to be loaded. Immutable.
 *
 * @param refused    reasons why functions were not shown to be fenced, by name; empty if all were
 * @param tensorMaps positions of the tensor maps in a kernel's parameters, in bytes from their start; by name. A kernel with maps is fenced only if
 *                   its launcher makes sure that they were made for its program
 * @param trusted    functions that are fenced provided that a compiler made their code, by name, with the first property that was not shown.
 *                   Hand-made code may leave the window there
 * @param endless    functions with a loop that neither looks at the stop word nor is shown to end, or with a wait for threads that may never come,
 *                   by name, with the first such loop or wait; all functions if the fence has no stop word
 * @param looks      whether a function looks at the stop word
 * @param misaligned functions with an access whose address was not shown to be aligned as it needs, by name, with the first such access; none if the
 *                   fence does not align. This assumes that results are available when compilers expect them
 * @param waits      functions that may wait for other blocks of their grid
 * @param calls      possible calls between functions
 */
public record VerifiedCubin(Map<String, String> refused, Map<String, TensorMapPlaces> tensorMaps, Map<String, String> trusted,
        Map<String, String> endless, boolean looks, Map<String, String> misaligned, BlockWaits waits, CalledFunctions calls) {
    /** Copies the maps. */
    public VerifiedCubin {
        refused = Map.copyOf(refused);
        tensorMaps = Map.copyOf(tensorMaps);
        trusted = Map.copyOf(trusted);
        endless = Map.copyOf(endless);
        misaligned = Map.copyOf(misaligned);
    }

    /** Returns whether all of it stays in the window, whichever compiler made it. */
    public boolean isShown() {
        return refused.isEmpty() && trusted.isEmpty();
    }

    /**
     * Returns the reasons why functions have no fence: those that the fencer left unchanged, those that were not shown to be fenced, and those that
     * may call such a function.
     *
     * @param reports of the fencer
     * @return by name
     */
    public Map<String, String> unfenced(List<FunctionReport> reports) {
        Map<String, String> all = new HashMap<>(refused);
        reports.stream().filter(report -> !report.isFenced()).forEach(report -> all.put(report.name(), report.refusal()));
        return calls.handOn(all, " has no fence: ");
    }

    /** Returns the assumptions that are not verified in functions and their possible callees, by name. */
    public Map<String, String> takenOnTrust() {
        return calls.handOn(trusted, ", which it may call, has ");
    }

    /** Functions that may end the context by an address that is not aligned, and those that may call them, by name. */
    public Map<String, String> mayMisalign() {
        return calls.handOn(misaligned, ", which it may call, has ");
    }

    /** Functions that may run forever, and those that may call them or themselves, by name. */
    public Map<String, String> mayBeEndless() {
        Map<String, String> all = new HashMap<>(endless);
        calls.recursive().forEach(function -> all.putIfAbsent(function, "calls in a circle"));
        return calls.handOn(all, ", which it may call, has ");
    }

    /**
     * Returns functions in which a thread may wait for another block of its grid, or which may call such functions, by name. All refused functions
     * are among them.
     */
    public Map<String, String> mayWaitForBlocks() {
        return waits.all(calls);
    }
}
