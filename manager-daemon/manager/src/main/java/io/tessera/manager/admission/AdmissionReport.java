package io.tessera.manager.admission;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.tessera.manager.placement.PlacementJson;

/** The queue in {@code status} (SPEC.md, section 8). Stateless; called by the owner thread. */
public final class AdmissionReport {
    private AdmissionReport() {
    }

    /** Returns the programs that wait, and those for which a place is kept: {@code place} 0. */
    public static JsonArray of(AdmissionQueue queue, long nowNs) {
        JsonArray all = new JsonArray();
        int place = 0;
        for (AdmissionEntry entry : queue.entries()) {
            if (entry.clientId != 0) {
                continue; // it is among the clients
            }
            JsonObject json = new JsonObject();
            json.addProperty("place", entry.granted ? 0 : ++place);
            json.addProperty("pid", entry.wish.pid());
            json.addProperty("uid", entry.wish.uid());
            json.addProperty("tenant", entry.wish.tenant());
            entry.wish.device().ifPresent(device -> json.addProperty("device", device.toString()));
            if (entry.choice != null) {
                json.add("placement", PlacementJson.of(entry.choice));
            }
            json.addProperty("guaranteeBytes", entry.wish.guaranteeBytes());
            json.addProperty("waitingNs", nowNs - entry.sinceNs);
            json.addProperty("reason", entry.reason);
            all.add(json);
        }
        return all;
    }
}
