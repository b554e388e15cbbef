package io.tessera.manager.residency;

import com.google.gson.JsonObject;
import io.tessera.manager.conductor.DeviceClient;
import io.tessera.manager.conductor.ManagedDevice;
import io.tessera.manager.schedule.turn.ClientOutlook;
import io.tessera.memory.residency.ResidencyPlan;
import io.tessera.protocol.segment.ResidencyBlock;
import io.tessera.protocol.segment.ResidencyState;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToLongFunction;

/** The part of {@code status} about memory that moves (SPEC.md, section 8). Called by the owner thread. */
public final class ResidencyReport {
    private final Residency residency;

    /** Creates a report on a planner. */
    public ResidencyReport(Residency residency) {
        this.residency = residency;
    }

    /** Returns a device; absent while nothing is planned on it. */
    public Optional<JsonObject> device(ManagedDevice device) {
        return residency.devices().device(device.uuid()).filter(DeviceResidency::planned).map(ResidencyReport::device);
    }

    private static JsonObject device(DeviceResidency device) {
        JsonObject json = new JsonObject();
        json.addProperty("capacityBytes", device.capacityBytes());
        json.addProperty("usedBytes", sum(device, member -> member.usedBytes));
        json.addProperty("residentBytes", sum(device, member -> member.movable() ? member.residentBytes : 0));
        json.addProperty("swappedBytes", sum(device, member -> member.swappedBytes));
        json.addProperty("fixedBytes", device.executorBytes() + sum(device, member -> member.fixedBytes));
        json.addProperty("executorBytes", device.executorBytes());
        json.addProperty("neededBytes", sum(device, member -> member.neededBytes));
        ResidencyPlan plan = device.plan();
        json.addProperty("fits", plan != null && plan.fits());
        json.addProperty("reason", plan == null ? "nothing was planned yet" : plan.reason());
        if (device.isBounded()) {
            json.addProperty("usableBytes", device.capacityBytes());
        }
        if (!device.standing().isEmpty()) {
            json.addProperty("standing", device.standing());
        }
        return json;
    }

    private static long sum(DeviceResidency device, ToLongFunction<ClientDeviceMemory> bytes) {
        return device.members().stream().mapToLong(bytes).sum();
    }

    /** Returns a client on a device; absent if its memory cannot leave. May fault, as any access to its segment. */
    public Optional<JsonObject> client(DeviceClient member, long nowNs) {
        return residency.devices().member(member).filter(ClientDeviceMemory::movable).map(memory -> client(memory,
                residency.devices().device(member.announcement().uuid()).orElseThrow().device.scheduling()
                        .outlook(member.clientId(), nowNs)));
    }

    private static String state(ClientDeviceMemory member, ResidencyState said) {
        if (member.checkpointed && !member.onHost) {
            return member.restoring ? "restoring" : "suspending";
        }
        ResidencyState state = member.checkpointed ? ResidencyState.SUSPENDED : said;
        return state.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static JsonObject client(ClientDeviceMemory member, ClientOutlook outlook) {
        ResidencyBlock words = member.member.residency();
        JsonObject json = new JsonObject();
        json.addProperty("state", state(member, words.state()));
        json.addProperty("parked", member.evicted);
        String choice = PlanChoice.sentence(words.planChoice(), member.overflowBytes);
        if (!choice.isEmpty()) {
            json.addProperty("choice", choice);
        }
        if (!member.shortOf.isEmpty()) {
            json.addProperty("shortOf", member.shortOf);
        }
        if (!member.suspension.isEmpty()) {
            json.addProperty("suspension", member.suspension);
        }
        if (member.evicted && !member.notSuspended.isEmpty()) {
            json.addProperty("notSuspended", member.notSuspended);
        }
        json.addProperty("targetBytes", member.targetBytes);
        json.addProperty("residentBytes", member.residentBytes);
        json.addProperty("neededBytes", member.neededBytes);
        json.addProperty("swappableBytes", member.swappableBytes);
        json.addProperty("swappedBytes", member.swappedBytes);
        json.addProperty("zeroBytes", member.zeroBytes);
        json.addProperty("cleanBytes", member.cleanBytes);
        json.addProperty("fixedBytes", member.fixedBytes);
        json.addProperty("cachedBytes", member.cachedBytes);
        json.addProperty("guaranteeBytes", member.guaranteeBytes);
        json.addProperty("pinnedBytes", member.pinnedHeld);
        json.addProperty("pageableBytes", member.pageableHeld);
        json.addProperty("fileBytes", member.fileHeld);
        json.addProperty("movedInBytes", words.movedInBytes());
        json.addProperty("movedOutBytes", words.movedOutBytes());
        json.addProperty("moveInBytesPerSecond", rate(words.movedInBytes(), words.moveInNs()));
        json.addProperty("moveOutBytesPerSecond", rate(words.movedOutBytes(), words.moveOutNs()));
        json.addProperty("movesIn", words.movesIn());
        json.addProperty("movesOut", words.movesOut());
        json.addProperty("moveFailures", words.moveFailures());
        json.addProperty("droppedBytes", words.droppedBytes());
        json.addProperty("sparedBytes", words.sparedBytes());
        json.addProperty("handoverLastNs", outlook.handoverLastNs());
        json.addProperty("handoverMedianNs", outlook.handoverMedianNs());
        return json;
    }

    private static long rate(long bytes, long ns) {
        return ns <= 0 ? 0 : (long) (1e9 * bytes / ns);
    }

    /** Returns the host memory for what is off the devices; absent while no client can use it. */
    public Optional<JsonObject> host() {
        if (residency.devices().swapping().isEmpty()) {
            return Optional.empty();
        }
        HostShares host = residency.host();
        JsonObject json = new JsonObject();
        json.addProperty("availableBytes", host.availableBytes());
        json.addProperty("pinnedBudgetBytes", host.budget().pinnedBytes());
        json.addProperty("pinnedBytes", residency.devices().swapping().stream().mapToLong(m -> m.pinnedHeld).sum());
        json.addProperty("pageableBudgetBytes", host.budget().pageableBytes());
        json.addProperty("pageableBytes", residency.devices().swapping().stream().mapToLong(m -> m.pageableHeld).sum());
        json.addProperty("reason", host.reason());
        return Optional.of(json);
    }
}
