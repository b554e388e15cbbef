package io.tessera.manager.control;

import static io.tessera.manager.control.RequestFields.device;
import static io.tessera.manager.control.RequestFields.flag;
import static io.tessera.manager.control.RequestFields.tenant;
import static io.tessera.manager.control.RequestFields.text;
import static io.tessera.manager.control.RequestFields.whole;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.residency.Eviction;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.policy.PolicyName;
import java.io.IOException;
import java.io.StringReader;
import java.util.Arrays;
import java.util.Locale;

/** Decodes a request, checks it and its sender, and answers. Stateless apart from its target; one owner thread. */
final class ControlRequests {
    private final ControlTarget target;
    private final AccessControl authority;
    private final TenantRequests tenants;
    private final AdmissionRequests admissions;

    ControlRequests(ControlTarget target, AccessControl authority) {
        this.target = target;
        this.authority = authority;
        this.tenants = new TenantRequests(target, authority);
        this.admissions = new AdmissionRequests(target);
    }

    /**
     * Answers a line.
     *
     * @param asker the user that asks
     * @throws JsonParseException if the line is not a JSON object; the connection ends
     */
    JsonObject answer(String line, Requester asker, long nowNs) {
        JsonObject request = parse(line);
        try {
            return switch (text(request, "request")) {
                case "ping" -> ControlAnswers.ok();
                case "status" -> status(asker, nowNs);
                case "scheduler" -> scheduler(request, asker, nowNs);
                case "quantum" -> quantum(request, asker, nowNs);
                case "policy" -> policy(request, asker, nowNs);
                case "tenant" -> tenants.tenant(request, asker, nowNs);
                case "limit" -> tenants.limit(request, asker);
                case "evict" -> evict(request, asker, nowNs);
                case "restore" -> restore(request, asker, nowNs);
                case "admission" -> admissions.admission(request, asker, nowNs);
                case "devices" -> admissions.devices(nowNs);
                case "stop" -> stop(request, asker, nowNs);
                case String other -> throw new RefusedRequest("there is no request \"" + other
                        + "\": ping, status, scheduler, quantum, policy, tenant, limit, evict, restore, admission, devices, stop");
            };
        } catch (RefusedRequest e) {
            return ControlAnswers.error(e.getMessage());
        }
    }

    private static JsonObject parse(String line) {
        try (JsonReader reader = new JsonReader(new StringReader(line))) {
            reader.setStrictness(Strictness.STRICT);
            JsonElement element = JsonParser.parseReader(reader);
            if (!element.isJsonObject() || reader.peek() != JsonToken.END_DOCUMENT) {
                throw new JsonParseException("a line must be one JSON object");
            }
            return element.getAsJsonObject();
        } catch (IOException | StackOverflowError e) {
            throw new JsonParseException("a line must be one JSON object", e);
        }
    }

    private JsonObject status(Requester asker, long nowNs) {
        JsonObject answer = ControlAnswers.ok();
        JsonObject status = target.status(nowNs);
        StatusView.narrow(status, asker, authority.owner());
        status.asMap().forEach(answer::add);
        return answer;
    }

    private JsonObject scheduler(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        authority.authorise(asker);
        String name = text(request, "mode");
        SchedulerMode mode = Arrays.stream(SchedulerMode.values())
                .filter(m -> m.name().toLowerCase(Locale.ROOT).equals(name)).findFirst()
                .orElseThrow(() -> new RefusedRequest("there is no mode \"" + name + "\": on, off, auto"));
        return known(target.order(device(request), DeviceSharing.of(mode), nowNs));
    }

    private JsonObject quantum(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        authority.authorise(asker);
        long ns = whole(request, "ns", "nanoseconds");
        try {
            ScheduleSettings.checkQuantum(ns);
        } catch (IllegalArgumentException e) {
            throw new RefusedRequest(e.getMessage());
        }
        return known(target.order(device(request), DeviceSharing.ofQuantum(ns), nowNs));
    }

    private JsonObject policy(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        authority.authorise(asker);
        String name = text(request, "policy");
        PolicyName policy = PolicyName.of(name)
                .orElseThrow(() -> new RefusedRequest("there is no policy \"" + name + "\": " + PolicyName.all()));
        return known(target.order(device(request), DeviceSharing.of(policy), nowNs));
    }

    private JsonObject evict(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        boolean suspend = flag(request, "suspend");
        int parked = suspend ? 0 : target.park(authority.relayed(tenant(request), asker), true);
        if (parked > 0 && !target.knows(tenant(request), asker::mayHandle)) {
            return counted(parked);
        }
        String tenant = knownTenant(request, asker);
        Eviction eviction = target.evict(tenant, asker::mayHandle, suspend, nowNs);
        if (eviction.clients() + parked == 0) {
            throw new RefusedRequest(eviction.notSuspended().isEmpty()
                    ? "no client of tenant \"" + tenant + "\" has plan swap: its memory cannot leave"
                    : "tenant \"" + tenant + "\" is not suspended: " + String.join("; ", eviction.notSuspended()));
        }
        JsonObject answer = counted(eviction.clients() + parked);
        if (!eviction.notSuspended().isEmpty()) {
            JsonArray sentences = new JsonArray();
            eviction.notSuspended().forEach(sentences::add);
            answer.add("notSuspended", sentences);
        }
        return answer;
    }

    private JsonObject restore(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        int back = target.park(authority.relayed(tenant(request), asker), false);
        if (back > 0 && !target.knows(tenant(request), asker::mayHandle)) {
            return counted(back);
        }
        return counted(back + target.restore(knownTenant(request, asker), asker::mayHandle, nowNs));
    }

    /** Returns a tenant whose clients the requester may have leave and come back. */
    private String knownTenant(JsonObject request, Requester asker) throws RefusedRequest {
        String tenant = tenant(request);
        if (target.knows(tenant, asker::mayHandle)) {
            return tenant;
        }
        if (target.relays(authority.relayed(tenant(request), asker))) {
            throw new RefusedRequest("tenant \"" + tenant + "\" shares by space: its memory leaves the GPU, its process is not suspended;"
                    + " use tessera park without --suspend, once it has memory on a GPU");
        }
        throw new RefusedRequest(asker.admin() ? "no client of tenant \"" + tenant + "\" is on a device; status lists tenants"
                : "no program of yours with the name \"" + tenant + "\" is on a device, and other users' programs are theirs and"
                        + " the administrators'; status lists yours");
    }

    private static JsonObject counted(int clients) {
        JsonObject answer = ControlAnswers.ok();
        answer.addProperty("clients", clients);
        return answer;
    }

    private JsonObject stop(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        authority.authorise(asker);
        target.stop(flag(request, "programs"), nowNs);
        return ControlAnswers.ok();
    }

    private JsonObject known(boolean deviceKnown) throws RefusedRequest {
        if (!deviceKnown) {
            throw new RefusedRequest("no client has announced this device");
        }
        return ControlAnswers.ordered(target);
    }
}
