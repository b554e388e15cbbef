package io.tessera.manager.placement;

import io.tessera.protocol.DeviceUuid;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The part of the time in which each device was used lately by the clients that it has now, from what they have counted. The part of a
 * client is a mean over its life that forgets: what was {@link #HALF_LIFE_NS} ago counts half. So two devices that are equally busy have
 * equal parts, however long their clients have been there. One owner thread.
 *
 * <p>The time of a client is what its samples found, else its turns. A client that has submitted work, and of which neither is known, counts as one
 * that has used the device for the whole time: a mode without turns takes samples only while it compares. So does a client of which nothing is known yet.
 */
public final class GpuTimes {
    /** Time between two looks: executors say once a second what their clients have used. */
    public static final long LOOK_NS = 2_000_000_000L;
    static final long HALF_LIFE_NS = 10_000_000_000L;

    private final Map<DeviceUuid, Device> devices = new HashMap<>();

    /**
     * What a client has counted so far on a device.
     *
     * @param client      a number that no other client of the device has
     * @param submissions submissions of every kind; of a client of an executor 0: its time is known
     * @param busySamples samples that found the device busy with its work
     * @param samples     all samples
     * @param usedNs      time of its turns, or its part of the executor's time
     */
    public record ClientWork(long client, long submissions, long busySamples, long samples, long usedNs) {
        /** The part of the time since another look in which the client used the device. */
        private double shareSince(ClientWork before, double elapsedNs) {
            double turns = Math.clamp((usedNs - before.usedNs) / elapsedNs, 0, 1);
            long looked = samples - before.samples;
            if (looked > 0) {
                double busy = Math.clamp((double) (busySamples - before.busySamples) / looked, 0, 1);
                return turns > 0 ? busy * turns : busy; // of a turn that goes on nothing is counted yet
            }
            return turns > 0 ? turns : submissions != before.submissions ? 1 : 0;
        }
    }

    /** A client as it was at the last look. */
    private static final class Client {
        ClientWork work;
        /** Parts of the time, each with its weight. */
        double weighted;
        /** Sum of the weights; 0: nothing is known. */
        double weight;

        void look(ClientWork now, double elapsedNs) {
            if (work != null) {
                double kept = Math.pow(0.5, elapsedNs / HALF_LIFE_NS);
                weighted = weighted * kept + now.shareSince(work, elapsedNs) * (1 - kept);
                weight = weight * kept + 1 - kept;
            }
            work = now;
        }

        double share() {
            return weight == 0 ? 1 : weighted / weight;
        }
    }

    /** A device as it was at the last look. */
    private static final class Device {
        private Map<Long, Client> clients = Map.of();
        private long lookedNs;
    }

    /** Takes in what the clients of a device have counted. */
    public void look(DeviceUuid uuid, List<ClientWork> clients, long nowNs) {
        Device device = devices.computeIfAbsent(uuid, _ -> new Device());
        double elapsedNs = nowNs - device.lookedNs;
        if (elapsedNs <= 0 && !device.clients.isEmpty()) {
            return;
        }
        Map<Long, Client> now = new HashMap<>();
        for (ClientWork work : clients) {
            Client client = device.clients.getOrDefault(work.client(), new Client());
            client.look(work, elapsedNs);
            now.put(work.client(), client);
        }
        device.clients = now;
        device.lookedNs = nowNs;
    }

    /** Forgets all devices but these. */
    public void retain(Set<DeviceUuid> known) {
        devices.keySet().retainAll(known);
    }

    /** The part of the time that a device was used lately, from 0 to 1; 0: it has no clients that are known. */
    public double share(DeviceUuid uuid) {
        Device device = devices.get(uuid);
        return device == null ? 0 : Math.min(1, device.clients.values().stream().mapToDouble(Client::share).sum());
    }
}
