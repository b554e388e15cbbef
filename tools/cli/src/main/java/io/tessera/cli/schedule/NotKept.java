package io.tessera.cli.schedule;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;

/** The manager's remark on an order that it has taken and that does not hold everywhere or for good. Stateless. */
final class NotKept {
    private NotKept() {
    }

    /** Says it on standard error. */
    static void warn(JsonObject answer, CommandContext context) {
        if (answer.get("notKept") instanceof JsonArray reasons) {
            reasons.forEach(reason -> context.say(reason.getAsString()));
        }
    }
}
