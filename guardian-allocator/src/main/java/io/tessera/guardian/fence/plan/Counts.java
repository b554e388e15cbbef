package io.tessera.guardian.fence.plan;

import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.ptx.PtxFunction;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Counts for a {@link KernelReport} while a function is rewritten. Not thread-safe. */
public final class Counts {
    /** Keyed by place and opcode. */
    private final Map<Access.Place, Map<String, Integer>> accesses = new EnumMap<>(Access.Place.class);
    private final Map<String, Integer> handles = new HashMap<>();
    private final Map<KernelReport.Fence, Integer> fences = new EnumMap<>(KernelReport.Fence.class);
    private final Map<KernelReport.Proof, Integer> proved = new EnumMap<>(KernelReport.Proof.class);
    private final List<String> calls = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    /** An access by a handle. */
    public void handle(String opcode) {
        handles.merge(opcode, 1, Integer::sum);
    }

    /** An access to memory was met. */
    public void access(String opcode, Access.Place place) {
        accesses.computeIfAbsent(place, each -> new HashMap<>()).merge(opcode, 1, Integer::sum);
    }

    /** A fence was written. */
    public void fence(KernelReport.Fence fence) {
        fences.merge(fence, 1, Integer::sum);
    }

    /** A fence was left out, because of a proof. */
    public void proof(KernelReport.Proof proof) {
        proved.merge(proof, 1, Integer::sum);
    }

    /** A function is called. */
    public void call(String function) {
        if (!calls.contains(function)) {
            calls.add(function);
        }
    }

    /** Something that the reader of a report should know; said once. */
    public void note(String note) {
        if (!notes.contains(note)) {
            notes.add(note);
        }
    }

    private static String text(String opcode, Access.Place place) {
        return opcode + switch (place) {
            case GENERIC, GENERIC_SHARED -> " (generic)";
            case CLUSTER -> ".shared::cluster";
            default -> "." + place.name().toLowerCase(Locale.ROOT);
        };
    }

    /** The report on the function, of all that was counted. */
    public KernelReport report(PtxFunction function) {
        Map<String, Integer> named = new TreeMap<>(handles);
        accesses.forEach((place, opcodes) -> opcodes.forEach((opcode, times) -> named.merge(text(opcode, place), times, Integer::sum)));
        return new KernelReport(function.name(), function.kind() == PtxFunction.Kind.ENTRY, function.line(), named,
                fences, proved, calls, notes, null, null);
    }
}
