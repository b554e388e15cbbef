package io.tessera.manager.control;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.message.TenantName;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Reads single fields of a request, and refuses the request if a field is invalid. Stateless. */
final class RequestFields {
    private RequestFields() {
    }

    /** Returns a required text. */
    static String text(JsonObject request, String field) throws RefusedRequest {
        JsonElement value = request.get(field);
        if (value == null || !value.isJsonPrimitive() || !value.getAsJsonPrimitive().isString()) {
            throw new RefusedRequest("\"" + field + "\" must be a text");
        }
        return value.getAsString();
    }

    /** Returns a required whole number; the unit is for the message. */
    static long whole(JsonObject request, String field, String unit) throws RefusedRequest {
        JsonElement value = request.get(field);
        if (value == null || !value.isJsonPrimitive() || !value.getAsJsonPrimitive().isNumber()) {
            throw new RefusedRequest("\"" + field + "\" must be a number of " + unit);
        }
        try {
            return new BigDecimal(value.getAsString()).longValueExact();
        } catch (ArithmeticException | NumberFormatException e) {
            throw new RefusedRequest("\"" + field + "\" must be a whole number of " + unit);
        }
    }

    /** Returns a truth value; false if the field is missing. */
    static boolean flag(JsonObject request, String field) throws RefusedRequest {
        JsonElement value = request.get(field);
        if (value == null) {
            return false;
        }
        if (!value.isJsonPrimitive() || !value.getAsJsonPrimitive().isBoolean()) {
            throw new RefusedRequest("\"" + field + "\" must be true or false");
        }
        return value.getAsBoolean();
    }

    /** Returns the device that a request is about; empty if it names none. */
    static Optional<DeviceUuid> device(JsonObject request) throws RefusedRequest {
        return uuid(request, "device");
    }

    /** Returns the device that a field names; empty if the field is missing. */
    static Optional<DeviceUuid> uuid(JsonObject request, String field) throws RefusedRequest {
        if (!request.has(field)) {
            return Optional.empty();
        }
        String name = text(request, field);
        Optional<DeviceUuid> uuid = DeviceUuid.parse(name);
        if (uuid.isEmpty()) {
            throw new RefusedRequest("\"" + name + "\" is no UUID of a device (GPU-...)");
        }
        return uuid;
    }

    /** Returns a tenant, read as programs' labels are: {@code tessera run} names a program here before the program says HELLO. */
    static String tenant(JsonObject request) throws RefusedRequest {
        return WireTypes.printable(text(request, "tenant"));
    }

    /** Throws if a text is not a valid name of a tenant. */
    static void checkTenant(String tenant) throws RefusedRequest {
        if (tenant.isEmpty() || tenant.getBytes(StandardCharsets.UTF_8).length > TenantName.MOST_BYTES) {
            throw new RefusedRequest("a tenant's name has 1 to " + TenantName.MOST_BYTES + " bytes");
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(tenant)) {
            throw new RefusedRequest("a tenant's name is text in UTF-8; this one has half of a surrogate pair");
        }
    }

}
