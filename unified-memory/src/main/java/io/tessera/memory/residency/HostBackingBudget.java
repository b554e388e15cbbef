package io.tessera.memory.residency;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Decides how much host memory each client may hold as backing for what was moved off devices. Immutable, thread-safe.
 *
 * <p>If all ask for more than there is, tenants get max-min fair shares, and clients get such shares within them. A tenant that holds more than its
 * share keeps it while no other asks for it, because pinning is slow. The budget rule is that of {@link ResidencyPlanner}: raises are paid from
 * memory that no client holds or may hold, so they may come one call after the memory becomes free.
 *
 * <p>The host's free memory limits raises as well. Memory that is promised and not yet held counts as used. Promises are taken back while less than
 * the reserve is available; held memory is not.
 *
 * @param pinnedBytes   memory that all clients together may pin
 * @param pageableBytes memory that all clients together may hold as pageable backing
 * @param tenantBytes   maximum of each for one tenant; {@link Long#MAX_VALUE}: the whole budget
 * @param reserveBytes  memory that is to stay available on the host
 */
public record HostBackingBudget(long pinnedBytes, long pageableBytes, long tenantBytes, long reserveBytes) {
    private static final double GIB = 1L << 30;
    private static final long LEAST_RESERVE_BYTES = 1L << 30;

    /** Checks all values. */
    public HostBackingBudget {
        if (pinnedBytes < 0 || pageableBytes < 0 || tenantBytes < 0 || reserveBytes < 0) {
            throw new IllegalArgumentException("negative: " + pinnedBytes + ", " + pageableBytes + ", " + tenantBytes
                    + ", " + reserveBytes);
        }
    }

    /**
     * Returns a reasonable budget for a host that runs other programs too: half of its memory pinned, a quarter pageable, and a sixteenth, at least 1
     * GiB, always left available.
     */
    public static HostBackingBudget forHost(long totalBytes) {
        return new HostBackingBudget(totalBytes / 2, totalBytes / 4, Long.MAX_VALUE,
                Math.max(LEAST_RESERVE_BYTES, totalBytes / 16));
    }

    /**
     * Returns the targets from now on.
     *
     * @param clients        all living clients on the host
     * @param availableBytes present available memory of the host, as the kernel estimates it (MemAvailable)
     */
    public HostTargets targets(List<HostClient> clients, long availableBytes) {
        long promisedBytes = 0;
        for (HostClient client : clients) {
            promisedBytes += Math.max(0, client.pinnedTargetBytes() - client.pinnedHeldBytes());
            promisedBytes += Math.max(0, client.pageableTargetBytes() - client.pageableHeldBytes());
        }
        boolean shortage = availableBytes < reserveBytes;
        long roomBytes = Math.max(0, availableBytes - reserveBytes - promisedBytes);
        Tier pinned = new Tier(clients, pinnedBytes, shortage, HostClient::pinnedHeldBytes,
                HostClient::pinnedTargetBytes, HostClient::pinnedWantedBytes);
        roomBytes -= pinned.raise(roomBytes);
        Tier pageable = new Tier(clients, pageableBytes, shortage, HostClient::pageableHeldBytes,
                HostClient::pageableTargetBytes, HostClient::pageableWantedBytes);
        pageable.raise(roomBytes);
        return new HostTargets(pinned.targets, pageable.targets, reason(availableBytes, shortage, pinned, pageable));
    }

    private String reason(long availableBytes, boolean shortage, Tier pinned, Tier pageable) {
        String held = String.format(Locale.ROOT, "%.1f GiB pinned of %.1f, %.1f GiB pageable of %.1f",
                pinned.heldBytes / GIB, pinnedBytes / GIB, pageable.heldBytes / GIB, pageableBytes / GIB);
        return shortage ? String.format(Locale.ROOT,
                "%s; the host has %.1f GiB left of the %.1f GiB that stay free, so no client gets more", held,
                availableBytes / GIB, reserveBytes / GIB) : held;
    }

    /** One kind of memory while targets are calculated. */
    private final class Tier {
        final Map<Long, Long> targets = new HashMap<>();
        private final List<HostClient> clients;
        private final Map<Long, Long> goals;
        private final ToLongFunction<HostClient> held;
        private final ToLongFunction<HostClient> target;
        private final boolean shortage;
        private final long heldBytes;

        /** A negative value means that more is held or may be held than the budget; then no target rises, not even to what is held. */
        private long unoccupiedBytes;

        Tier(List<HostClient> clients, long budgetBytes, boolean shortage, ToLongFunction<HostClient> held,
                ToLongFunction<HostClient> target, ToLongFunction<HostClient> wanted) {
            this.clients = clients;
            this.held = held;
            this.target = target;
            this.shortage = shortage;
            Map<Long, Long> asked = new LinkedHashMap<>();
            Map<Long, String> tenants = new HashMap<>();
            unoccupiedBytes = budgetBytes;
            long sum = 0;
            for (HostClient client : clients) {
                asked.put(client.clientId(), wanted.applyAsLong(client));
                tenants.put(client.clientId(), client.tenant());
                sum += held.applyAsLong(client);
                unoccupiedBytes -= Math.max(held.applyAsLong(client), target.applyAsLong(client));
            }
            heldBytes = sum;
            goals = FairShares.grouped(budgetBytes, tenantBytes, asked, tenants);
            keepSpare(budgetBytes - goals.values().stream().mapToLong(Long::longValue).sum());
        }

        /** Leaves to its holder what no other client asks for. */
        private void keepSpare(long bytes) {
            long spareBytes = bytes;
            for (HostClient client : clients) {
                long over = Math.clamp(held.applyAsLong(client) - goals.get(client.clientId()), 0L, spareBytes);
                goals.merge(client.clientId(), over, Long::sum);
                spareBytes -= over;
            }
        }

        /** Calculates the targets; returns by how much they were raised beyond what was held or promised. */
        long raise(long availableRoomBytes) {
            long roomBytes = Math.max(0, Math.min(availableRoomBytes, unoccupiedBytes));
            long raisedBytes = 0;
            for (HostClient client : clients) {
                long goal = goals.get(client.clientId());
                long heldNow = held.applyAsLong(client);
                long before = target.applyAsLong(client);
                long lowered = Math.min(goal, shortage ? Math.min(before, heldNow) : before);
                long occupied = Math.max(heldNow, before);
                boolean mayRise = !shortage && unoccupiedBytes >= 0;
                long raised = mayRise ? Math.max(lowered, Math.min(goal, occupied + roomBytes - raisedBytes)) : lowered;
                raisedBytes += Math.max(0, raised - occupied);
                targets.put(client.clientId(), raised);
            }
            return raisedBytes;
        }
    }
}
