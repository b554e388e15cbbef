package io.tessera.manager.control;

import static io.tessera.manager.control.RequestFields.flag;
import static io.tessera.manager.control.RequestFields.text;
import static io.tessera.manager.control.RequestFields.whole;

import com.google.gson.JsonObject;
import io.tessera.manager.admission.AdmissionAnswer;
import io.tessera.manager.admission.AdmissionWish;

/** The requests of programs that have not started yet: {@code admission}. Stateless beside its target; one owner thread. */
final class AdmissionRequests {
    private final ControlTarget target;

    AdmissionRequests(ControlTarget target) {
        this.target = target;
    }

    /** Asks for a place, or leaves the queue. */
    JsonObject admission(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        String tenant = text(request, "tenant");
        RequestFields.checkTenant(tenant);
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
        AdmissionWish wish = new AdmissionWish(asker.uid(), tenant, (int) pid, startTicks, RequestFields.device(request), guaranteeBytes);
        if (flag(request, "leave")) {
            target.leaveAdmission(wish);
            return ControlRequests.ok();
        }
        AdmissionAnswer admission = target.admission(wish, nowNs);
        if (admission.hopeless()) {
            throw new RefusedRequest(admission.reason());
        }
        JsonObject answer = ControlRequests.ok();
        answer.addProperty("admitted", admission.admitted());
        answer.addProperty("place", admission.place());
        answer.addProperty("waiting", admission.waiting());
        answer.addProperty("reason", admission.reason());
        return answer;
    }
}
