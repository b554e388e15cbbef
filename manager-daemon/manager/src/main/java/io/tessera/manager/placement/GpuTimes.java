package io.tessera.manager.placement;

import io.tessera.protocol.DeviceUuid;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What part of the time each device was used lately, from what its clients have counted. An average that forgets: what was {@link #HALF_LIFE_NS} ago
 * counts half. One owner thread.
 *
 * <p>The time of a client is what its samples found, else its turns. A client that has submitted work, and of which neither is known, counts as one
 * that has used the device for the whole time: a mode without turns takes samples only while it compares.
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

    /** A device as it was at the last look. */
    private static final class Device {
        private final Map<Long, ClientWork> clients = new HashMap<>();
        private long lookedNs;
        private double share;
    }

    /** Takes in what the clients of a device have counted. */
    public void look(DeviceUuid uuid, List<ClientWork> clients, long nowNs) {
        Device device = devices.get(uuid);
        if (device == null) {
            device = new Device();
            devices.put(uuid, device);
        } else if (nowNs > device.lookedNs) {
            double elapsedNs = nowNs - device.lookedNs;
            double used = 0;
            for (ClientWork client : clients) {
                ClientWork before = device.clients.get(client.client());
                used += before == null ? 0 : client.shareSince(before, elapsedNs);
            }
            double kept = Math.pow(0.5, elapsedNs / HALF_LIFE_NS);
            device.share = device.share * kept + Math.min(1, used) * (1 - kept);
        }
        device.lookedNs = nowNs;
        device.clients.clear();
        for (ClientWork client : clients) {
            device.clients.put(client.client(), client);
        }
    }

    /** Forgets all devices but these. */
    public void retain(Set<DeviceUuid> known) {
        devices.keySet().retainAll(known);
    }

    /** The part of the time that a device was used lately, from 0 to 1; 0: nothing is known of it. */
    public double share(DeviceUuid uuid) {
        Device device = devices.get(uuid);
        return device == null ? 0 : device.share;
    }
}
