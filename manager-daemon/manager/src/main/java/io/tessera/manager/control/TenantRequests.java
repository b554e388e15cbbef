package io.tessera.manager.control;

import static io.tessera.manager.control.RequestFields.flag;
import static io.tessera.manager.control.RequestFields.whole;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.manager.conductor.TenantShares;
import io.tessera.policy.PolicyName;
import io.tessera.policy.PolicyTerm;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.message.TenantName;
import java.util.OptionalInt;
import java.util.Set;

/** The requests about what a tenant gets: {@code tenant} and {@code limit}. Stateless apart from its target; one owner thread. */
final class TenantRequests {
    /** Maximum number of clients that can be set: more than any host has processes. */
    private static final int MOST_CLIENTS = 1_000_000;

    private final ControlTarget target;
    private final AccessControl authority;

    TenantRequests(ControlTarget target, AccessControl authority) {
        this.target = target;
        this.authority = authority;
    }

    /** Answers with a tenant's settings; with {@code set} or {@code reset}, it first changes them. */
    JsonObject tenant(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        String tenant = flag(request, "own") ? TenantName.of(RequestFields.tenant(request), asker.uid(), authority.owner())
                : authority.relayed(RequestFields.tenant(request), asker);
        RequestFields.checkTenant(tenant);
        boolean reset = flag(request, "reset");
        TenantTerms terms = target.terms(tenant);
        if (reset || request.has("set")) {
            authority.authorise(asker);
            boolean undone = reset && !request.has("set") && target.isSet(tenant);
            if (!undone && !flag(request, "ahead") && !target.takesTurns(tenant) && !target.relays(tenant)) {
                throw new RefusedRequest("no client of tenant \"" + tenant + "\" is on a device now: status lists tenants, another user's is"
                        + " \"LABEL of user NUMBER\"; with --ahead it holds from when one comes");
            }
            OptionalInt clients = clients(request);
            terms = changed(reset ? target.writtenTerms(tenant) : terms, request);
            // In this order: lasting settings are stored before the number of clients changes while the tenant runs.
            boolean set = target.terms(tenant, terms, flag(request, "whileItRuns"), nowNs);
            if (!set || (reset || clients.isPresent()) && !target.clients(tenant, clients)) {
                throw new RefusedRequest("something is set for " + TenantShares.MOST_TENANTS + " tenants already; reset some");
            }
        }
        JsonObject answer = ControlAnswers.ok();
        answer.addProperty("tenant", tenant);
        JsonObject shown = TermsJson.of(terms);
        if (target.clients(tenant) > 0) {
            shown.addProperty("clients", target.clients(tenant));
        }
        answer.add("terms", shown);
        JsonArray policies = new JsonArray();
        Set<PolicyName> names = target.policiesOf(tenant);
        names.forEach(name -> policies.add(name.text()));
        answer.add("policies", policies);
        JsonArray unused = new JsonArray();
        Set<PolicyTerm> ignored = TermsJson.unused(terms, names);
        if (flag(request, "space") || target.relays(tenant)) {
            ignored.remove(PolicyTerm.CLASS); // executors keep processors free for interactive tenants under every policy
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

    /** Returns the maximum number of clients in a request, if it has one; 0: any number. */
    private static OptionalInt clients(JsonObject request) throws RefusedRequest {
        if (!(request.get("set") instanceof JsonObject set) || !set.has("clients")) {
            return OptionalInt.empty();
        }
        long clients = whole(set, "clients", "clients");
        if (clients < 0 || clients > MOST_CLIENTS) {
            throw new RefusedRequest("\"clients\" must be from 0 (any number) to " + MOST_CLIENTS);
        }
        return OptionalInt.of((int) clients);
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
            JsonObject terms = set.getAsJsonObject().deepCopy();
            terms.remove("clients");
            return TermsJson.changed(before, terms);
        } catch (IllegalArgumentException e) {
            throw new RefusedRequest(e.getMessage());
        }
    }

    /** Sets the device memory of a tenant of executors. */
    JsonObject limit(JsonObject request, Requester asker) throws RefusedRequest {
        authority.authorise(asker);
        long bytes = whole(request, "bytes", "bytes");
        if (bytes < 0) {
            throw new RefusedRequest("a limit is not below 0");
        }
        String tenant = RequestFields.tenant(request);
        RequestFields.checkTenant(tenant);
        if (!flag(request, "ahead") && !target.relays(tenant)) {
            throw new RefusedRequest("no client of tenant \"" + tenant
                    + "\" shares by space now: status lists tenants, another user's is \"LABEL of user NUMBER\"; with --ahead the limit"
                    + " holds from when one comes. A program that shares by time has the limit of its own --memory");
        }
        if (!target.limit(tenant, bytes)) {
            throw new RefusedRequest(
                    "commands have set limits for " + TenantShares.MOST_TENANTS + " tenants already; write this one into tessera.toml");
        }
        return ControlAnswers.ordered(target);
    }
}
