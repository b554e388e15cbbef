package io.tessera.manager.placement;

import com.google.gson.JsonObject;

/** A choice in the answers to {@code status} and {@code admission} (SPEC.md, section 8). Stateless. */
public final class PlacementJson {
    private PlacementJson() {
    }

    /** Returns device, rule and reason. */
    public static JsonObject of(PlacementChoice choice) {
        JsonObject json = new JsonObject();
        json.addProperty("device", choice.device().toString());
        json.addProperty("rule", choice.rule().text());
        json.addProperty("reason", choice.reason());
        return json;
    }
}
