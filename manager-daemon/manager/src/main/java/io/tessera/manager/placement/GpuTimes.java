package io.tessera.manager.placement;

import io.tessera.protocol.DeviceUuid;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Recent share of the time in which the present clients of each device used it, from what they have counted. The share of a client is a decaying mean
 * over its life: time that is {@link #HALF_LIFE_NS} old counts half. So two devices that are equally busy have equal shares, however long their
 * clients have been there. One owner thread.
 *
 * <p>The time of a client comes from its samples, or else from its turns. A client that has submitted work and has neither counts as if it had used
 * the device for the whole time, because a mode without turns takes samples only while it compares. A client of which nothing is known yet counts the
 * same.
 */
public final class GpuTimes {
    /** Interval between two measurements: executors report the time that their clients have used once a second. */
    public static final long LOOK_NS = 2_000_000_000L;
    static final long HALF_LIFE_NS = 10_000_000_000L;

    private final Map<DeviceUuid, Device> devices = new HashMap<>();

    /**
     * Counts of a client on a device so far.
     *
     * @param client      number that no other client of the device has
     * @param submissions submissions of every kind; 0 for a client of an executor, whose time is known
     * @param busySamples samples that found the device busy with its work
     * @param samples     all samples
     * @param usedNs      time of its turns, or its share of the executor's time
     */
    public record ClientWork(long client, long submissions, long busySamples, long samples, long usedNs) {
        /** Returns the share of the time since a former measurement in which the client used the device. */
        private double shareSince(ClientWork before, double elapsedNs) {
            double turns = Math.clamp((usedNs - before.usedNs) / elapsedNs, 0, 1);
            long looked = samples - before.samples;
            if (looked > 0) {
                double busy = Math.clamp((double) (busySamples - before.busySamples) / looked, 0, 1);
                return turns > 0 ? busy * turns : busy; // nothing is counted yet of a turn that is not over
            }
            return turns > 0 ? turns : submissions != before.submissions ? 1 : 0;
        }
    }

    /** A client as of the last measurement. */
    private static final class Client {
        ClientWork work;
        /** Sum of the shares of the time, each with its weight. */
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

    /** A device as of the last measurement. */
    private static final class Device {
        private Map<Long, Client> clients = Map.of();
        private long lookedNs;
    }

    /** Adds what the clients of a device have counted. */
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

    /** Returns the recent share of the time in which a device was busy, from 0 to 1; 0 if none of its clients is known. */
    public double share(DeviceUuid uuid) {
        Device device = devices.get(uuid);
        return device == null ? 0 : Math.min(1, device.clients.values().stream().mapToDouble(Client::share).sum());
    }
}
