package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.PtxFunction;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts for a {@link KernelReport} while a function is rewritten. Not thread-safe. */
final class Counts {
    private final Map<String, Integer> accesses = new TreeMap<>();
    private final Map<KernelReport.Fence, Integer> fences = new EnumMap<>(KernelReport.Fence.class);
    private final Map<KernelReport.Proof, Integer> proved = new EnumMap<>(KernelReport.Proof.class);
    private final List<String> calls = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    void access(String what) {
        accesses.merge(what, 1, Integer::sum);
    }

    void fence(KernelReport.Fence fence) {
        fences.merge(fence, 1, Integer::sum);
    }

    void proof(KernelReport.Proof proof) {
        proved.merge(proof, 1, Integer::sum);
    }

    void call(String function) {
        if (!calls.contains(function)) {
            calls.add(function);
        }
    }

    void note(String note) {
        if (!notes.contains(note)) {
            notes.add(note);
        }
    }

    KernelReport report(PtxFunction function) {
        return new KernelReport(function.name(), function.kind() == PtxFunction.Kind.ENTRY, function.line(), accesses,
                fences, proved, calls, notes);
    }
}
