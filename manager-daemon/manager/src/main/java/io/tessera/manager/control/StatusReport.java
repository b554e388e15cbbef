package io.tessera.manager.control;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.tessera.manager.conductor.DeviceClient;
import io.tessera.manager.conductor.DeviceRegistry;
import io.tessera.manager.conductor.ManagedDevice;
import io.tessera.manager.placement.PlacementJson;
import io.tessera.manager.residency.ResidencyReport;
import io.tessera.manager.schedule.DeviceTurns;
import io.tessera.manager.session.Session;
import io.tessera.manager.session.Sessions;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.segment.CountersReader;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.ErrorLogReader;
import io.tessera.protocol.segment.LoggedError;
import io.tessera.protocol.segment.SubmissionKind;
import io.tessera.protocol.segment.ThreadSlot;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Optional;

/**
 * The devices and clients of {@code status} (SPEC.md, section 8). Times are durations up to now, in nanoseconds. Counters are those of the
 * clients' segments. Called by the owner thread.
 */
public final class StatusReport {
    private final Sessions sessions;
    private final DeviceRegistry registry;
    private final ResidencyReport residency;

    /** Creates a report from the parts of the manager. */
    public StatusReport(Sessions sessions, DeviceRegistry registry, ResidencyReport residency) {
        this.sessions = sessions;
        this.registry = registry;
        this.residency = residency;
    }

    /** Returns all devices. */
    public JsonArray devices(long nowNs) {
        JsonArray all = new JsonArray();
        for (ManagedDevice device : registry.devices()) {
            all.add(device(device, nowNs));
        }
        return all;
    }

    private JsonObject device(ManagedDevice device, long nowNs) {
        DeviceTurns turns = device.scheduling().snapshot(nowNs);
        JsonObject json = new JsonObject();
        json.addProperty("uuid", device.uuid().toString());
        json.addProperty("name", device.name());
        json.addProperty("totalBytes", device.totalBytes());
        json.addProperty("mode", turns.mode().name().toLowerCase(Locale.ROOT));
        json.addProperty("effective", turns.exclusive() ? "exclusive" : "free");
        json.addProperty("reason", turns.reason());
        json.addProperty("policy", turns.policy().text());
        json.addProperty("quantumNs", turns.quantumNs());
        if (turns.holder().isPresent()) {
            json.addProperty("holder", turns.holder().getAsLong());
            json.addProperty("holderSinceNs", age(turns.holderSinceNs(), nowNs));
        }
        json.addProperty("handovers", turns.handovers());
        json.addProperty("handoverMedianNs", turns.handoverMedianNs());
        residency.device(device).ifPresent(memory -> json.add("memory", memory));
        JsonArray clients = new JsonArray();
        device.members().forEach(member -> clients.add(member.clientId()));
        json.add("clients", clients);
        return json;
    }

    /** Returns all clients. */
    public JsonArray clients(long nowNs) {
        JsonArray all = new JsonArray();
        for (Session session : sessions.registered()) {
            if (session.isFaulty()) {
                continue;
            }
            try {
                all.add(client(session, nowNs));
            } catch (InternalError e) {
                session.faulted(e);
            }
        }
        return all;
    }

    private JsonObject client(Session session, long nowNs) {
        JsonObject json = new JsonObject();
        json.addProperty("id", session.clientId());
        json.addProperty("pid", session.peer().pid());
        json.addProperty("uid", Integer.toUnsignedLong(session.peer().uid()));
        json.addProperty("tenant", session.hello().tenant());
        json.addProperty("command", session.hello().command());
        json.addProperty("plan", session.hello().plan().name().toLowerCase(Locale.ROOT));
        if (session.sharing() != null) {
            json.addProperty("sharing", session.sharing());
        }
        if (session.placement() != null) {
            json.add("placement", PlacementJson.of(session.placement()));
        }
        json.addProperty("connectedNs", age(session.connectedNs(), nowNs));
        long heartbeatNs = session.header().clientHeartbeatNs();
        if (heartbeatNs != 0) {
            json.addProperty("heartbeatAgeNs", age(heartbeatNs, nowNs));
        }
        MemorySegment memory = session.memory();
        JsonObject counters = new JsonObject();
        CountersReader.counters(memory).forEach((id, value) -> counters.addProperty(id.label(), value));
        json.add("counters", counters);
        JsonArray devices = new JsonArray();
        for (DeviceClient member : registry.members(session)) {
            devices.add(use(member, nowNs));
        }
        json.add("devices", devices);
        JsonArray errors = new JsonArray();
        for (LoggedError error : ErrorLogReader.read(memory)) {
            errors.add(error(error));
        }
        json.add("errors", errors);
        return json;
    }

    /** Returns the host memory for what is off the devices; absent while no client can use it. */
    public Optional<JsonObject> host() {
        return residency.host();
    }

    private JsonObject use(DeviceClient member, long nowNs) {
        DeviceBlock block = member.block();
        MemorySegment memory = member.session().memory();
        JsonObject json = new JsonObject();
        json.addProperty("uuid", member.announcement().uuid().toString());
        json.addProperty("turn", ManagedDevice.turnName(block));
        json.addProperty("ack", ManagedDevice.ackName(block));
        long wantSinceNs = block.wantSinceNs();
        TenantTerms terms = registry.shares().of(registry.shares().nameOf(member.session()));
        if (!terms.equals(TenantTerms.DEFAULT)) {
            json.add("terms", TermsJson.of(terms));
        }
        json.addProperty("waitingNs", wantSinceNs == 0 ? 0 : age(wantSinceNs, nowNs));
        json.addProperty("usedBytes", block.usedBytes());
        json.addProperty("peakBytes", block.peakBytes());
        json.addProperty("managedBytes", block.managedBytes());
        json.addProperty("limitBytes", block.limitBytes());
        long samples = block.samples();
        json.addProperty("launches", launches(memory));
        json.addProperty("submissions", ThreadSlot.deviceSubmissions(memory, member.slot()));
        json.addProperty("turns", block.turns());
        json.addProperty("heldNs", block.heldNs());
        json.addProperty("waitedNs", block.waitNs());
        json.addProperty("drains", block.drains());
        json.addProperty("drainNs", block.drainNs());
        json.addProperty("drainMaxNs", block.drainMaxNs());
        json.addProperty("drainLastNs", block.drainLastNs());
        json.addProperty("busyShare", samples <= 0 ? 0.0 : Math.clamp((double) block.busySamples() / samples, 0, 1));
        residency.client(member, nowNs).ifPresent(moved -> json.add("residency", moved));
        return json;
    }

    /**
     * Returns the number of kernel and graph launches. Kinds are counted for each process, and devices for each submission. So with several devices
     * the launches are those of the whole process.
     */
    private static long launches(MemorySegment memory) {
        return ThreadSlot.submitted(memory, SubmissionKind.LAUNCH)
                + ThreadSlot.submitted(memory, SubmissionKind.GRAPH_LAUNCH);
    }

    private static JsonObject error(LoggedError error) {
        JsonObject json = new JsonObject();
        json.addProperty("code", error.code());
        json.addProperty("count", error.count());
        json.addProperty("text", error.text());
        return json;
    }

    /** Returns the time since an event; 0 if a client set a time in the future. */
    private static long age(long sinceNs, long nowNs) {
        return Math.max(0, nowNs - sinceNs);
    }
}
