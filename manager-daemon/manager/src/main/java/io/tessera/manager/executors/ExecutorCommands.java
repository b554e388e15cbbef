package io.tessera.manager.executors;

import com.google.gson.JsonObject;
import io.tessera.policy.TenantTerms;
import io.tessera.policy.TermsText;

/** The lines that a manager tells executors (RELAY.md, section 1). Stateless. */
final class ExecutorCommands {
    private ExecutorCommands() {
    }

    /** A client will come. */
    static JsonObject admit(JsonObject client) {
        return line("admit", client);
    }

    /** A tenant's limit from now on; 0: none. */
    static JsonObject limit(String tenant, long bytes) {
        JsonObject limit = new JsonObject();
        limit.addProperty("tenant", tenant);
        limit.addProperty("limitBytes", bytes);
        return line("limit", limit);
    }

    /** What is set for a tenant. */
    static JsonObject terms(String tenant, TenantTerms terms) {
        JsonObject named = new JsonObject();
        named.addProperty("tenant", tenant);
        named.addProperty("terms", TermsText.of(terms));
        return line("terms", named);
    }

    /** By which policy tenants take turns, and whether. */
    static JsonObject turns(SpaceSharing sharing) {
        JsonObject turns = new JsonObject();
        turns.addProperty("policy", sharing.policy().text());
        turns.addProperty("use", sharing.use());
        return line("turns", turns);
    }

    /** A tenant's memory leaves the device, or comes back. */
    static JsonObject park(String tenant, boolean away) {
        JsonObject named = new JsonObject();
        named.addProperty("tenant", tenant);
        return line(away ? "park" : "wake", named);
    }

    /** End, even if clients are there. */
    static JsonObject stop() {
        return line("stop", new JsonObject());
    }

    /** End unless there are clients: the manager goes. */
    static JsonObject leave() {
        return line("leave", new JsonObject());
    }

    private static JsonObject line(String name, JsonObject content) {
        JsonObject line = new JsonObject();
        line.add(name, content);
        return line;
    }
}
