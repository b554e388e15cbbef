package io.tessera.cli.fence;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.tessera.guardian.fence.KernelReport;
import java.util.Map;

/** Writes outcomes for scripts: one object on a line for each image, and a last one with the sums. Stateless. */
final class FenceJson {
    private FenceJson() {
    }

    static JsonObject image(FenceOutcome outcome) {
        JsonObject object = new JsonObject();
        object.addProperty("file", outcome.file());
        object.addProperty("part", outcome.where());
        object.addProperty("offset", outcome.offset());
        object.addProperty("made", outcome.made());
        object.addProperty("ptxBytes", outcome.ptxBytes());
        if (!outcome.accepted()) {
            object.addProperty("refused", outcome.refused());
        }
        JsonObject dropped = new JsonObject();
        outcome.dropped().forEach(dropped::addProperty);
        object.add("dropped", dropped);
        object.addProperty("fenceNs", outcome.fenceNs());
        JsonArray kernels = new JsonArray();
        outcome.reports().forEach(report -> kernels.add(kernel(outcome, report)));
        object.add("functions", kernels);
        JsonArray written = new JsonArray();
        outcome.written().forEach(written::add);
        object.add("written", written);
        return object;
    }

    private static JsonObject kernel(FenceOutcome outcome, KernelReport report) {
        JsonObject object = new JsonObject();
        object.addProperty("name", report.name());
        object.addProperty("kernel", report.kernel());
        object.addProperty("line", report.line());
        object.add("accesses", counts(report.accesses()));
        object.add("fences", counts(report.fences()));
        object.add("proved", counts(report.proved()));
        resources(object, "before", outcome.before().get(report.name()));
        resources(object, "after", outcome.after().get(report.name()));
        if (report.waits() != null) {
            object.addProperty("waitsForBlocks", report.waits());
        }
        JsonArray notes = new JsonArray();
        report.notes().forEach(notes::add);
        object.add("notes", notes);
        return object;
    }

    private static void resources(JsonObject object, String name, KernelResources resources) {
        if (resources != null) {
            JsonObject value = new JsonObject();
            value.addProperty("registers", resources.registers());
            value.addProperty("stackBytes", resources.stackBytes());
            value.addProperty("spillBytes", resources.spillBytes());
            object.add(name, value);
        }
    }

    static JsonObject totals(OutcomeTotals totals) {
        JsonObject object = new JsonObject();
        object.addProperty("images", totals.images());
        object.addProperty("machineCodeAlone", totals.machineCodeAlone());
        object.addProperty("forOtherGpus", totals.forOtherGpus());
        object.addProperty("refused", totals.refused());
        object.addProperty("dropped", totals.dropped());
        object.addProperty("kernels", totals.kernels());
        object.addProperty("mayWaitForBlocks", totals.waiting());
        object.addProperty("ptxBytes", totals.ptxBytes());
        object.addProperty("bytesPerSecondAndCore", Math.round(totals.bytesPerSecond()));
        object.add("accesses", counts(totals.accesses()));
        object.add("fences", counts(totals.fences()));
        object.add("proved", counts(totals.proved()));
        JsonObject parent = new JsonObject();
        parent.add("totals", object);
        return parent;
    }

    private static JsonObject counts(Map<?, Integer> counts) {
        JsonObject object = new JsonObject();
        counts.forEach((key, count) -> object.addProperty(key instanceof Enum<?> e ? ConstantName.text(e) : key.toString(),
                count));
        return object;
    }
}
