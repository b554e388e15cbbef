package io.tessera.protocol.violation;

import com.google.gson.JsonObject;

/** The protocol may use nothing but the JDK. */
public final class SpeaksJson {
    private final JsonObject object = new JsonObject();

    /** Uses it. */
    public int size() {
        return object.size();
    }
}
