package io.tessera.cli.residency;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.control.ControlException.Kind;
import io.tessera.cli.text.TextTable;

/** Describes for how many clients of a tenant something is true. Stateless. */
final class Clients {
    private Clients() {
    }

    static String counted(JsonObject answer, String tenant, String what) throws ControlException {
        JsonElement clients = answer.get("clients");
        if (clients == null || !clients.isJsonPrimitive() || !clients.getAsJsonPrimitive().isNumber()) {
            throw new ControlException(Kind.MALFORMED, "the manager does not say how many clients it concerns");
        }
        int count = clients.getAsInt();
        return TextTable.printable(tenant) + ": " + (count == 0 ? "no" : count) + (count == 1 ? " client " : " clients ") + what;
    }
}
