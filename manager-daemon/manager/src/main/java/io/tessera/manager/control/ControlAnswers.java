package io.tessera.manager.control;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** Answers that several requests get. Stateless. */
final class ControlAnswers {
    private ControlAnswers() {
    }

    /** Returns the answer of success. */
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

    /** Returns the answer of success; it says why the order would be lost if the manager were killed. */
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
