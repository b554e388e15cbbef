package io.tessera.manager.control;

import static io.tessera.manager.control.RequestFields.flag;
import static io.tessera.manager.control.RequestFields.whole;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.manager.admission.AdmissionAnswer;
import io.tessera.manager.admission.AdmissionWish;
import io.tessera.manager.admission.CandidateDevice;
import io.tessera.manager.admission.SpaceDevices;
import io.tessera.manager.placement.PlacementJson;
import java.util.ArrayList;
import java.util.List;

/** The requests of programs that have not started yet: {@code admission} and {@code devices}. Stateless apart from its target; one owner thread. */
final class AdmissionRequests {
    private static final int MOST_DEVICES = 256;
    /** Maximum device memory, as in a client's DEVICE (SPEC.md, section 2). */
    private static final long MOST_BYTES = 1L << 48;

    private final ControlTarget target;

    AdmissionRequests(ControlTarget target) {
        this.target = target;
    }

    /** Handles a request for a place, or to leave the queue. */
    JsonObject admission(JsonObject request, Requester asker, long nowNs) throws RefusedRequest {
        String tenant = RequestFields.tenant(request);
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
        long limitBytes = request.has("limitBytes") ? whole(request, "limitBytes", "bytes") : 0;
        if (limitBytes < 0) {
            throw new RefusedRequest("a limit is not below 0");
        }
        AdmissionWish wish = new AdmissionWish(asker.uid(), tenant, (int) pid, startTicks, RequestFields.device(request), candidates(request),
                guaranteeBytes, limitBytes);
        if (flag(request, "leave")) {
            target.leaveAdmission(wish);
            return ControlAnswers.ok();
        }
        AdmissionAnswer admission = target.admission(wish, nowNs);
        if (admission.hopeless()) {
            throw new RefusedRequest(admission.reason());
        }
        JsonObject answer = ControlAnswers.ok();
        answer.addProperty("admitted", admission.admitted());
        answer.addProperty("place", admission.place());
        answer.addProperty("waiting", admission.waiting());
        answer.addProperty("reason", admission.reason());
        admission.choice().ifPresent(choice -> answer.add("placement", PlacementJson.of(choice)));
        return answer;
    }

    /** Returns the devices of which a program is to get one; empty if it does not leave the choice to the manager. */
    private static List<CandidateDevice> candidates(JsonObject request) throws RefusedRequest {
        if (!request.has("devices")) {
            return List.of();
        }
        if (!(request.get("devices") instanceof JsonArray array) || array.isEmpty() || array.size() > MOST_DEVICES) {
            throw new RefusedRequest("\"devices\" must be a list of 1 to " + MOST_DEVICES + " devices");
        }
        List<CandidateDevice> candidates = new ArrayList<>();
        for (JsonElement element : array) {
            if (!(element instanceof JsonObject device) || RequestFields.uuid(device, "uuid").isEmpty()) {
                throw new RefusedRequest("each of \"devices\" must have a \"uuid\" and \"totalBytes\"");
            }
            long totalBytes = whole(device, "totalBytes", "bytes");
            if (totalBytes < 1 || totalBytes > MOST_BYTES) {
                throw new RefusedRequest("a device has from 1 to " + MOST_BYTES + " bytes");
            }
            candidates.add(new CandidateDevice(RequestFields.uuid(device, "uuid").orElseThrow(), totalBytes));
        }
        return candidates;
    }

    /** Returns the devices that a program in space sharing could use. */
    JsonObject devices(long nowNs) {
        SpaceDevices known = target.spaceDevices(nowNs);
        JsonArray devices = new JsonArray();
        for (CandidateDevice device : known.devices()) {
            JsonObject json = new JsonObject();
            json.addProperty("uuid", device.uuid().toString());
            json.addProperty("totalBytes", device.totalBytes());
            devices.add(json);
        }
        JsonObject answer = ControlAnswers.ok();
        answer.addProperty("settled", known.settled());
        answer.addProperty("software", known.software());
        answer.add("devices", devices);
        answer.addProperty("reason", known.reason());
        return answer;
    }
}
