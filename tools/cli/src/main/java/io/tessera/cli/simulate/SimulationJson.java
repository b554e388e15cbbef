package io.tessera.cli.simulate;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.tessera.policy.PolicyName;
import io.tessera.policy.simulation.SimulationResult;
import io.tessera.policy.simulation.TenantResult;
import io.tessera.policy.simulation.WaitSamples;
import java.util.Locale;

/** Results for scripts: nanoseconds, parts of 1, counts. Stateless. */
final class SimulationJson {
    private SimulationJson() {
    }

    /** One policy with all tenants. */
    static JsonObject of(PolicyName policy, SimulationResult result) {
        JsonObject json = new JsonObject();
        json.addProperty("policy", policy.text());
        json.addProperty("elapsedNs", result.elapsedNs());
        json.addProperty("busyNs", result.busyNs());
        json.addProperty("utilisation", result.utilisation());
        json.addProperty("handoverNs", result.handoverNs());
        json.addProperty("lostNs", result.lostNs());
        json.addProperty("turns", result.turns());
        waits(json, "wait", result.waits());
        JsonArray tenants = new JsonArray();
        result.tenants().forEach(tenant -> tenants.add(of(tenant, result.share(tenant))));
        json.add("tenants", tenants);
        return json;
    }

    private static JsonObject of(TenantResult result, double share) {
        JsonObject json = new JsonObject();
        json.addProperty("name", result.tenant().name());
        json.addProperty("class", result.tenant().terms().tenantClass().name().toLowerCase(Locale.ROOT));
        json.addProperty("weight", result.tenant().terms().weight());
        json.addProperty("priority", result.tenant().terms().priority());
        json.addProperty("share", share);
        json.addProperty("usedNs", result.usedNs());
        json.addProperty("lostNs", result.lostNs());
        json.addProperty("requests", result.requests());
        json.addProperty("unfinished", result.unfinished());
        json.addProperty("inTime", result.inTime());
        json.addProperty("revocations", result.revocations());
        waits(json, "wait", result.waits());
        waits(json, "response", result.responses());
        return json;
    }

    private static void waits(JsonObject json, String name, WaitSamples samples) {
        json.addProperty(name + "MedianNs", samples.percentileNs(50));
        json.addProperty(name + "P99Ns", samples.percentileNs(99));
        json.addProperty(name + "LongestNs", samples.longestNs());
    }
}
