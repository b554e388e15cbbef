package io.tessera.manager.executors;

import com.google.gson.JsonObject;
import io.tessera.policy.TenantTerms;
import io.tessera.policy.TermsText;

/** The lines that a manager sends to executors (RELAY.md, section 1). Stateless. */
final class ExecutorCommands {
    private ExecutorCommands() {
    }

    /** Announces a client. */
    static JsonObject admit(JsonObject client) {
        return line("admit", client);
    }

    /** Sets a tenant's limit; 0: none. */
    static JsonObject limit(String tenant, long bytes) {
        JsonObject limit = new JsonObject();
        limit.addProperty("tenant", tenant);
        limit.addProperty("limitBytes", bytes);
        return line("limit", limit);
    }

    /** Sets the terms of a tenant. */
    static JsonObject terms(String tenant, TenantTerms terms) {
        JsonObject named = new JsonObject();
        named.addProperty("tenant", tenant);
        named.addProperty("terms", TermsText.of(terms));
        return line("terms", named);
    }

    /** Sets the policy of turns and the mode. */
    static JsonObject turns(SpaceSharing sharing) {
        JsonObject turns = new JsonObject();
        turns.addProperty("policy", sharing.policy().text());
        turns.addProperty("use", sharing.use());
        return line("turns", turns);
    }

    /** Makes a tenant's memory leave the device, or come back. */
    static JsonObject park(String tenant, boolean away) {
        JsonObject named = new JsonObject();
        named.addProperty("tenant", tenant);
        return line(away ? "park" : "wake", named);
    }

    /** Ends the executor, even if it has clients. */
    static JsonObject stop() {
        return line("stop", new JsonObject());
    }

    /** Ends the executor unless it has clients, because the manager ends. */
    static JsonObject leave() {
        return line("leave", new JsonObject());
    }

    private static JsonObject line(String name, JsonObject content) {
        JsonObject line = new JsonObject();
        line.add(name, content);
        return line;
    }
}
