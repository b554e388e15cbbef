package io.tessera.cli.fence.machine;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.tessera.guardian.machine.MachineFence;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;

/**
 * Writes the effect of fences on machine code for scripts: one object on a line for each image with code, and a last one with the sums.
 * Stateless.
 */
final class MachineJson {
    private static final String REFUSED = "refused";

    private MachineJson() {
    }

    static JsonObject image(String file, CubinOutcome outcome) {
        JsonObject object = new JsonObject();
        object.addProperty("file", file);
        object.addProperty("part", outcome.where());
        object.addProperty("offset", outcome.place());
        object.addProperty("cubinBytes", outcome.code().cubin() == null ? 0 : outcome.code().cubin().length);
        if (outcome.refused() != null) {
            object.addProperty(REFUSED, outcome.refused());
        }
        JsonArray functions = new JsonArray();
        outcome.functions().forEach(function -> functions.add(function(function)));
        object.add("functions", functions);
        return object;
    }

    private static JsonObject function(FunctionFence function) {
        JsonObject object = new JsonObject();
        object.addProperty("name", function.report().name());
        object.addProperty("kernel", function.report().kernel());
        object.addProperty("fenced", function.isFenced());
        object.addProperty("accesses", function.report().accesses());
        object.addProperty("inserted", function.report().inserted());
        if (!function.isFenced()) {
            object.addProperty(REFUSED, function.refusal());
            object.addProperty("refusedBy", function.verified() ? "verifier" : "fencer");
            if (function.offset() >= 0) {
                object.addProperty("refusedOffset", function.offset());
            }
        }
        if (function.trusted() != null) {
            object.addProperty("trusted", function.trusted());
        }
        if (function.waits() != null) {
            object.addProperty("waitsForBlocks", function.waits());
        }
        JsonObject maps = new JsonObject();
        maps.add("single", sorted(function.maps().single()));
        maps.add("many", sorted(function.maps().many()));
        maps.addProperty("conditional", function.maps().conditional());
        object.add("tensorMaps", maps);
        return object;
    }

    private static JsonArray sorted(Collection<Integer> offsets) {
        JsonArray array = new JsonArray();
        offsets.stream().sorted().forEach(array::add);
        return array;
    }

    static JsonObject totals(MachineTotals totals, MachineFence fence) {
        JsonObject object = new JsonObject();
        object.addProperty("fence", fence.kind().name().toLowerCase(Locale.ROOT));
        object.addProperty("windowBytes", MachineFenceWindow.sizeBytes(fence));
        object.addProperty("images", totals.images());
        object.addProperty("cubinBytes", totals.bytes());
        object.addProperty("kernels", totals.kernels());
        object.addProperty("fenced", totals.fenced());
        object.addProperty("accesses", totals.accesses());
        object.addProperty("inserted", totals.inserted());
        object.addProperty("withTensorMaps", totals.tensorMaps());
        object.addProperty("mayWaitForBlocks", totals.waiting());
        object.add("refusedImages", counts(totals.refusedImages()));
        object.add(REFUSED, counts(totals.refused()));
        object.add("trusted", counts(totals.trusted()));
        JsonArray architectures = new JsonArray();
        totals.architectures().forEach(architectures::add);
        object.add("architectures", architectures);
        JsonObject parent = new JsonObject();
        parent.add("totals", object);
        return parent;
    }

    private static JsonObject counts(Map<String, Integer> counts) {
        JsonObject object = new JsonObject();
        counts.forEach(object::addProperty);
        return object;
    }
}
