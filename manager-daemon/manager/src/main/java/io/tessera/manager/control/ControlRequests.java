package io.tessera.manager.control;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import io.tessera.manager.admission.AdmissionAnswer;
import io.tessera.manager.admission.AdmissionWish;
import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.conductor.TenantShares;
import io.tessera.manager.residency.Eviction;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.policy.PolicyName;
import io.tessera.policy.PolicyTerm;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.message.TenantName;
import java.io.IOException;
import java.io.StringReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Decodes a request, checks it and who asks, and answers. Stateless beside its target; one owner thread. */
final class ControlRequests {
    private final ControlTarget target;
    private final AccessControl authority;

    ControlRequests(ControlTarget target, AccessControl authority) {
        this.target = target;
        this.authority = authority;
    }

    /** A request that is answered with an error; the connection stays. */
    private static final class RefusedRequest extends Exception {
        private static final long serialVersionUID = 1L;

        RefusedRequest(String sentence) {
            super(sentence);
        }
    }

    /**
     * Answers a line.
     *
     * @param asker who asks
     * @throws JsonParseException if the line is no JSON object; the connection ends
     */
    JsonObject answer(String line, Requester asker, long nowNs) {
        JsonObject request = parse(line);
        try {
            return switch (text(request, "request")) {
                case "ping" -> ok();
                case "status" -> status(asker, nowNs);
                case "scheduler" -> scheduler(request, asker, nowNs);
                case "quantum" -> quantum(request, asker, nowNs);
                case "policy" -> policy(request, asker, nowNs);
                case "tenant" -> tenant(request, asker, nowNs);
                case "limit" -> limit(request, asker);
                case "evict" -> evict(request, asker, nowNs);
                case "restore" -> restore(request, asker, nowNs);
                case "admission" -> admission(request, asker, nowNs);
                case "stop" -> stop(request, asker, nowNs);
                case String other -> throw new RefusedRequest("there is no request \"" + other
                        + "\": ping, status, scheduler, quantum, policy, tenant, limit, evict, restore, admission, stop");
            };
        } catch (RefusedRequest e) {
            return error(e.getMessage());
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
        JsonObject answer = ok();
        JsonObject status = target.status(nowNs);
        StatusView.narrow(status, asker, authority.owner());
        status.asMap().forEach(answer::add);
        return answer;
    }

    private JsonObject scheduler(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        authorise(asker);
        String name = text(request, "mode");
        SchedulerMode mode = Arrays.stream(SchedulerMode.values())
                .filter(m -> m.name().toLowerCase(Locale.ROOT).equals(name)).findFirst()
                .orElseThrow(() -> new RefusedRequest("there is no mode \"" + name + "\": on, off, auto"));
        return known(target.order(device(request), DeviceSharing.of(mode), nowNs));
    }

    private JsonObject quantum(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        authorise(asker);
        long ns = whole(request, "ns", "nanoseconds");
        try {
            ScheduleSettings.checkQuantum(ns);
        } catch (IllegalArgumentException e) {
            throw new RefusedRequest(e.getMessage());
        }
        return known(target.order(device(request), DeviceSharing.ofQuantum(ns), nowNs));
    }

    private JsonObject policy(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        authorise(asker);
        String name = text(request, "policy");
        PolicyName policy = PolicyName.of(name)
                .orElseThrow(() -> new RefusedRequest("there is no policy \"" + name + "\": " + PolicyName.all()));
        return known(target.order(device(request), DeviceSharing.of(policy), nowNs));
    }

    /** What is set for a tenant; with {@code set} or {@code reset}, it is other from now on. */
    private JsonObject tenant(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        String tenant = flag(request, "own") ? TenantName.of(text(request, "tenant"), asker.uid(), authority.owner()) : relayed(request, asker);
        checkTenant(tenant);
        boolean reset = flag(request, "reset");
        TenantTerms terms = target.terms(tenant);
        if (reset || request.has("set")) {
            authorise(asker);
            if (!flag(request, "ahead") && !target.takesTurns(tenant) && !target.relays(tenant)) {
                throw new RefusedRequest("no client of tenant \"" + tenant + "\" is on a device now: status lists tenants, another user's is"
                        + " \"LABEL of user NUMBER\"; with --ahead it holds from when one comes");
            }
            terms = changed(reset ? target.writtenTerms(tenant) : terms, request);
            if (!target.terms(tenant, terms, flag(request, "whileItRuns"), nowNs)) {
                throw new RefusedRequest("something is set for " + TenantShares.MOST_TENANTS + " tenants already; reset some");
            }
        }
        JsonObject answer = ok();
        answer.addProperty("tenant", tenant);
        answer.add("terms", TermsJson.of(terms));
        JsonArray policies = new JsonArray();
        Set<PolicyName> names = target.policiesOf(tenant);
        names.forEach(name -> policies.add(name.text()));
        answer.add("policies", policies);
        JsonArray unused = new JsonArray();
        Set<PolicyTerm> ignored = TermsJson.unused(terms, names);
        if (flag(request, "space") || target.relays(tenant)) {
            ignored.remove(PolicyTerm.CLASS); // executors keep processors free for interactive tenants, whatever the policy
        }
        ignored.forEach(term -> unused.add(term.text()));
        answer.add("unused", unused);
        JsonArray notKept = new JsonArray();
        target.notKept(tenant, nowNs).forEach(notKept::add);
        if ((reset || request.has("set")) && !target.ordersProblem().isEmpty()) {
            notKept.add(target.ordersProblem());
        }
        if (!notKept.isEmpty()) {
            answer.add("notKept", notKept);
        }
        return answer;
    }

    private static TenantTerms changed(TenantTerms before, JsonObject request) throws RefusedRequest {
        JsonElement set = request.get("set");
        if (set == null) {
            return before;
        }
        if (!set.isJsonObject()) {
            throw new RefusedRequest("\"set\" must be an object");
        }
        try {
            return TermsJson.changed(before, set.getAsJsonObject());
        } catch (IllegalArgumentException e) {
            throw new RefusedRequest(e.getMessage());
        }
    }

    private static void checkTenant(String tenant) throws RefusedRequest {
        if (tenant.isEmpty() || tenant.getBytes(StandardCharsets.UTF_8).length > TenantName.MOST_BYTES) {
            throw new RefusedRequest("a tenant's name has 1 to " + TenantName.MOST_BYTES + " bytes");
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(tenant)) {
            throw new RefusedRequest("a tenant's name is text in UTF-8; this one has half of a surrogate pair");
        }
    }

    private JsonObject limit(JsonObject request, Requester asker) throws RefusedRequest {
        authorise(asker);
        long bytes = whole(request, "bytes", "bytes");
        if (bytes < 0) {
            throw new RefusedRequest("a limit is not below 0");
        }
        String tenant = text(request, "tenant");
        checkTenant(tenant);
        if (!flag(request, "ahead") && !target.relays(tenant)) {
            throw new RefusedRequest("no client of tenant \"" + tenant
                    + "\" shares by space now: status lists tenants, another user's is \"LABEL of user NUMBER\"; with --ahead the limit"
                    + " holds from when one comes. Who shares by time has the limit of its own --memory");
        }
        if (!target.limit(tenant, bytes)) {
            throw new RefusedRequest(
                    "commands have set limits for " + TenantShares.MOST_TENANTS + " tenants already; write this one into tessera.toml");
        }
        return ordered();
    }

    private JsonObject evict(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        boolean suspend = flag(request, "suspend");
        int parked = suspend ? 0 : target.park(relayed(request, asker), true);
        if (parked > 0 && !target.knows(text(request, "tenant"), asker::mayHandle)) {
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
        int back = target.park(relayed(request, asker), false);
        if (back > 0 && !target.knows(text(request, "tenant"), asker::mayHandle)) {
            return counted(back);
        }
        return counted(back + target.restore(knownTenant(request, asker), asker::mayHandle, nowNs));
    }

    /** The name by which executors know a tenant that the asker may name: another user's only if the asker is an administrator. */
    private String relayed(JsonObject request, Requester asker) throws RefusedRequest {
        String tenant = text(request, "tenant");
        return asker.admin() ? tenant : TenantName.of(tenant, asker.uid(), authority.owner());
    }

    private static boolean flag(JsonObject request, String field) throws RefusedRequest {
        JsonElement value = request.get(field);
        if (value == null) {
            return false;
        }
        if (!value.isJsonPrimitive() || !value.getAsJsonPrimitive().isBoolean()) {
            throw new RefusedRequest("\"" + field + "\" must be true or false");
        }
        return value.getAsBoolean();
    }

    /** A tenant of which the asker may have clients leave and come back. */
    private String knownTenant(JsonObject request, Requester asker) throws RefusedRequest {
        String tenant = text(request, "tenant");
        if (target.knows(tenant, asker::mayHandle)) {
            return tenant;
        }
        if (target.relays(relayed(request, asker))) {
            throw new RefusedRequest("tenant \"" + tenant + "\" shares by space: its memory leaves the GPU, its process is not suspended;"
                    + " use tessera park without --suspend, once it has memory on a GPU");
        }
        throw new RefusedRequest(asker.admin() ? "no client of tenant \"" + tenant + "\" is on a device; status lists tenants"
                : "no program of yours with the name \"" + tenant + "\" is on a device, and other users' programs are theirs and"
                        + " the administrators'; status lists yours");
    }

    private static JsonObject counted(int clients) {
        JsonObject answer = ok();
        answer.addProperty("clients", clients);
        return answer;
    }

    private static long whole(JsonObject request, String field, String unit) throws RefusedRequest {
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

    private JsonObject admission(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        String tenant = text(request, "tenant");
        checkTenant(tenant);
        long pid = whole(request, "pid", "a process");
        if (pid < 1 || pid > Integer.MAX_VALUE) {
            throw new RefusedRequest("\"pid\" must be the number of a process");
        }
        long guaranteeBytes = request.has("guaranteeBytes") ? whole(request, "guaranteeBytes", "bytes") : 0;
        if (guaranteeBytes < 0) {
            throw new RefusedRequest("a guarantee is not below 0");
        }
        long startTicks = whole(request, "startTicks", "ticks");
        if (startTicks < 1) {
            throw new RefusedRequest("process " + pid + " has ended, or its start cannot be read");
        }
        AdmissionWish wish = new AdmissionWish(asker.uid(), tenant, (int) pid, startTicks, device(request), guaranteeBytes);
        if (flag(request, "leave")) {
            target.leaveAdmission(wish);
            return ok();
        }
        AdmissionAnswer admission = target.admission(wish, nowNs);
        if (admission.hopeless()) {
            throw new RefusedRequest(admission.reason());
        }
        JsonObject answer = ok();
        answer.addProperty("admitted", admission.admitted());
        answer.addProperty("place", admission.place());
        answer.addProperty("waiting", admission.waiting());
        answer.addProperty("reason", admission.reason());
        return answer;
    }

    private JsonObject stop(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        authorise(asker);
        target.stop(flag(request, "programs"), nowNs);
        return ok();
    }

    private void authorise(Requester asker) throws RefusedRequest {
        if (!asker.admin()) {
            throw new RefusedRequest(authority.refusal(asker));
        }
    }

    private static Optional<DeviceUuid> device(JsonObject request) throws RefusedRequest {
        if (!request.has("device")) {
            return Optional.empty();
        }
        String name = text(request, "device");
        Optional<DeviceUuid> uuid = DeviceUuid.parse(name);
        if (uuid.isEmpty()) {
            throw new RefusedRequest("\"" + name + "\" is no UUID of a device (GPU-...)");
        }
        return uuid;
    }

    private JsonObject known(boolean deviceKnown) throws RefusedRequest {
        if (!deviceKnown) {
            throw new RefusedRequest("no client has announced this device");
        }
        return ordered();
    }

    private JsonObject ordered() {
        JsonObject answer = ok();
        if (!target.ordersProblem().isEmpty()) {
            JsonArray notKept = new JsonArray();
            notKept.add(target.ordersProblem());
            answer.add("notKept", notKept);
        }
        return answer;
    }

    private static String text(JsonObject request, String field) throws RefusedRequest {
        JsonElement value = request.get(field);
        if (value == null || !value.isJsonPrimitive() || !value.getAsJsonPrimitive().isString()) {
            throw new RefusedRequest("\"" + field + "\" must be a text");
        }
        return value.getAsString();
    }

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
}
