package io.tessera.manager.control;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.tessera.protocol.message.TenantName;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The part of a status that a user may see: of others' programs, their presence and their use of each device, but neither names nor processes.
 * Stateless.
 */
final class StatusView {
    /** Stands in place of a tenant's name. */
    static final String OTHERS = "(another user's)";
    private static final Pattern NAMED = Pattern.compile("\\(pid \\d+, tenant \"[^\"]*\"\\)|\\(?tenant \"[^\"]*\"\\)?");

    private StatusView() {
    }

    /**
     * Removes from a status what the requester may not see.
     *
     * @param owner the manager's user
     */
    static void narrow(JsonObject status, Requester asker, int owner) {
        if (asker.admin()) {
            return;
        }
        if (status.get("manager") instanceof JsonObject manager) {
            manager.remove("settingsProblem"); // the problem names keys, and so tenants
        }
        Set<Long> own = new HashSet<>();
        Set<String> tenants = new HashSet<>();
        for (JsonElement element : array(status, "clients")) {
            JsonObject client = element.getAsJsonObject();
            if (asker.mayHandle(client.get("uid").getAsInt())) {
                own.add(client.get("id").getAsLong());
                tenants.add(TenantName.of(client.get("tenant").getAsString(), asker.uid(), owner));
            } else {
                hide(client);
                client.add("counters", new JsonObject());
                client.add("errors", new JsonArray());
                array(client, "devices").forEach(device -> device.getAsJsonObject().remove("terms"));
            }
        }
        for (JsonElement element : array(status, "waiting")) {
            if (!asker.mayHandle(element.getAsJsonObject().get("uid").getAsInt())) {
                hide(element.getAsJsonObject());
            }
        }
        for (JsonElement element : array(status, "executors")) {
            JsonObject executor = element.getAsJsonObject();
            for (JsonElement client : array(executor, "clients")) {
                if (!own.contains(client.getAsJsonObject().get("client").getAsLong())) {
                    hide(client.getAsJsonObject());
                    client.getAsJsonObject().remove("terms");
                }
            }
            for (JsonElement window : array(executor, "windows")) {
                if (!tenants.contains(window.getAsJsonObject().get("tenant").getAsString())) {
                    hide(window.getAsJsonObject());
                }
            }
            executor.remove("rootBecause"); // the installation concerns administrators only
            if (executor.has("reason")) {
                executor.addProperty("reason", NAMED.matcher(executor.get("reason").getAsString()).replaceAll(OTHERS));
            }
        }
    }

    private static void hide(JsonObject named) {
        named.addProperty("tenant", OTHERS);
        if (named.has("uid")) {
            named.addProperty("uid", -1);
        }
        for (String field : new String[] {"pid", "command", "name"}) {
            if (named.has(field)) {
                named.add(field, field.equals("pid") ? new JsonPrimitive(0) : new JsonPrimitive(""));
            }
        }
    }

    private static JsonArray array(JsonObject object, String field) {
        return object.get(field) instanceof JsonArray array ? array : new JsonArray();
    }
}
