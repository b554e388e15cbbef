package io.tessera.manager.control;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** Answers that several requests get. Stateless. */
final class ControlAnswers {
    private ControlAnswers() {
    }

    /** Done. */
    static JsonObject ok() {
        JsonObject answer = new JsonObject();
        answer.addProperty("ok", true);
        return answer;
    }

    static JsonObject error(String sentence) {
        JsonObject answer = new JsonObject();
        answer.addProperty("ok", false);
        answer.addProperty("error", sentence);
        return answer;
    }

    /** Done; with why it does not survive if the manager is killed. */
    static JsonObject ordered(ControlTarget target) {
        JsonObject answer = ok();
        if (!target.ordersProblem().isEmpty()) {
            JsonArray notKept = new JsonArray();
            notKept.add(target.ordersProblem());
            answer.add("notKept", notKept);
        }
        return answer;
    }
}
