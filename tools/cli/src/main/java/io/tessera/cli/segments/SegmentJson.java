package io.tessera.cli.segments;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.tessera.protocol.segment.CounterId;
import io.tessera.protocol.segment.CountersReader;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.LoggedError;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.SegmentLayout;
import io.tessera.protocol.segment.SubmissionKind;
import java.util.List;
import java.util.Locale;

/**
 * Segments as JSON, for scripts: bytes, nanoseconds and plain counts, never shortened. Names as in the table; times of
 * errors are nanoseconds since 1970.
 */
final class SegmentJson {
    private SegmentJson() {
    }

    static JsonArray counters(List<CountersReader> readers) {
        JsonArray clients = new JsonArray();
        for (CountersReader reader : readers) {
            JsonObject client = client(reader.header());
            JsonObject counters = new JsonObject();
            for (CounterId id : CounterId.values()) {
                counters.addProperty(id.label(), reader.counter(id));
            }
            client.add("counters", counters);
            JsonObject submitted = new JsonObject();
            for (SubmissionKind kind : SubmissionKind.values()) {
                submitted.addProperty(kind.name().toLowerCase(Locale.ROOT), reader.submitted(kind));
            }
            client.add("submitted", submitted);
            client.add("devices", devices(reader));
            clients.add(client);
        }
        return clients;
    }

    static JsonArray errors(List<CountersReader> readers) {
        JsonArray clients = new JsonArray();
        for (CountersReader reader : readers) {
            JsonObject client = client(reader.header());
            JsonArray errors = new JsonArray();
            for (LoggedError error : reader.errors()) {
                JsonObject entry = new JsonObject();
                entry.addProperty("code", error.code());
                entry.addProperty("count", error.count());
                entry.addProperty("firstNs", error.firstNs());
                entry.addProperty("lastNs", error.lastNs());
                entry.addProperty("text", error.text());
                errors.add(entry);
            }
            client.add("errors", errors);
            clients.add(client);
        }
        return clients;
    }

    private static JsonObject client(SegmentHeader header) {
        JsonObject client = new JsonObject();
        client.addProperty("id", header.clientId());
        client.addProperty("pid", header.clientPid());
        client.addProperty("tenant", header.tenant());
        client.addProperty("command", header.command());
        return client;
    }

    private static JsonArray devices(CountersReader reader) {
        JsonArray devices = new JsonArray();
        for (int slot = 0; slot < SegmentLayout.MAX_DEVICES; slot++) {
            DeviceBlock device = reader.device(slot);
            if (!device.registered()) {
                continue;
            }
            JsonObject entry = new JsonObject();
            entry.addProperty("slot", slot);
            entry.addProperty("uuid", device.uuid().toString());
            entry.addProperty("name", device.name());
            entry.addProperty("submissions", reader.deviceSubmissions(slot));
            entry.addProperty("usedBytes", device.usedBytes());
            entry.addProperty("peakBytes", device.peakBytes());
            entry.addProperty("managedBytes", device.managedBytes());
            entry.addProperty("limitBytes", device.limitBytes());
            entry.addProperty("turns", device.turns());
            entry.addProperty("heldNs", device.heldNs());
            entry.addProperty("waitedNs", device.waitNs());
            entry.addProperty("drains", device.drains());
            entry.addProperty("drainNs", device.drainNs());
            entry.addProperty("drainMaxNs", device.drainMaxNs());
            entry.addProperty("drainLastNs", device.drainLastNs());
            entry.addProperty("contexts", device.contexts());
            entry.addProperty("capturing", device.capturing());
            devices.add(entry);
        }
        return devices;
    }
}
