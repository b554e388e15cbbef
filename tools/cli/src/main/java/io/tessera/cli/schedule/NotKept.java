package io.tessera.cli.schedule;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;

/** The manager's remark on an order that it has accepted, but that does not apply everywhere or permanently. Stateless. */
final class NotKept {
    private NotKept() {
    }

    /** Prints the remark on standard error. */
    static void warn(JsonObject answer, CommandContext context) {
        if (answer.get("notKept") instanceof JsonArray reasons) {
            reasons.forEach(reason -> context.say(reason.getAsString()));
        }
    }
}
