package io.tessera.memory.residency;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Decides what each client may have resident on one device, so that running clients have all they need and as little as possible is moved. {@link
 * ResidencyAssignment} decides from which clients memory is taken.
 *
 * <p><b>Budget rule.</b> M is the sum over all clients of the larger of target and held, plus all fixed memory. No plan raises M above the capacity,
 * and while it is above, no target is raised at all. Raises are paid from what is unoccupied <em>before</em> anything of the same plan is lowered,
 * because a client may still take up to its old target. So the targets may be written in any order. Memory that is freed by lowered targets is handed
 * out by the next call, which is given what clients hold then.
 *
 * <p>The caller calls again whenever a word of a client or a turn changes, and once more after it has written a target: that call hands out what a
 * lowered target frees. With clients that follow the protocol, each call gets closer to the goals. While a plan is not {@link ResidencyPlan#settled}
 * and nothing was written, clients have to act first: a call before a client rings is useless.
 *
 * <p>Pure function of its arguments; immutable, thread-safe.
 */
public final class ResidencyPlanner {
    private static final double GIB = 1L << 30;

    private final PlannerSettings settings;

    /** Creates a planner with {@link PlannerSettings#defaults}. */
    public ResidencyPlanner() {
        this(PlannerSettings.defaults());
    }

    /** Creates a planner with other constants. */
    public ResidencyPlanner(PlannerSettings settings) {
        this.settings = settings;
    }

    /**
     * Returns the targets from now on.
     *
     * @param capacityBytes memory of the device that all clients may have resident together
     * @param clients       all living clients on the device; dead ones hold nothing
     * @param nowNs         the caller's clock, for {@link ResidencyPlan#reason} alone
     * @throws IllegalArgumentException if the capacity is not positive, or a client occurs twice
     */
    public ResidencyPlan plan(long capacityBytes, List<ClientMemoryState> clients, long nowNs) {
        if (capacityBytes <= 0 || capacityBytes > ClientMemoryState.MAX_BYTES) {
            throw new IllegalArgumentException("capacityBytes " + capacityBytes);
        }
        ResidencyAssignment assignment = new ResidencyAssignment(capacityBytes, clients, settings);
        assignment.reclaim();
        assignment.serveRunning();
        assignment.prefetch();
        Map<Long, Long> firstBytes = goals(assignment);
        assignment.shareFree();
        Map<Long, Long> goals = goals(assignment);
        if (goals.size() != clients.size()) {
            throw new IllegalArgumentException("a client is there twice: " + clients);
        }
        Map<Long, Long> targets = step(capacityBytes, assignment.seats(), firstBytes, goals);
        Set<Long> mustStop = new HashSet<>();
        Map<Long, String> refused = new HashMap<>();
        for (ClientAllotment seat : assignment.seats()) {
            if (seat.mustStop()) {
                mustStop.add(seat.client.clientId());
            }
            if (seat.refused()) {
                refused.put(seat.client.clientId(), refusal(seat, capacityBytes));
            }
        }
        boolean fits = assignment.fits();
        return new ResidencyPlan(targets, goals, mustStop, refused, fits, reason(capacityBytes, assignment, fits, nowNs));
    }

    private static Map<Long, Long> goals(ResidencyAssignment assignment) {
        Map<Long, Long> goals = new HashMap<>();
        for (ClientAllotment seat : assignment.seats()) {
            goals.put(seat.client.clientId(), seat.goalBytes());
        }
        return goals;
    }

    /**
     * Returns what can be written now of the goals: all lower targets at once, and raises while there is room beside what all clients occupy or may
     * occupy. Memory that is needed to run and prefetched memory come before room to grow, so that growth does not use up what a client waits for.
     */
    private static Map<Long, Long> step(long capacityBytes, List<ClientAllotment> seats, Map<Long, Long> firstBytes,
            Map<Long, Long> goals) {
        long roomBytes = capacityBytes;
        Map<Long, Long> targets = new HashMap<>();
        for (ClientAllotment seat : seats) {
            roomBytes -= seat.client.occupiedBytes() + seat.client.fixedBytes();
            long id = seat.client.clientId();
            targets.put(id, Math.min(seat.client.targetBytes(), goals.get(id)));
        }
        if (roomBytes < 0) {
            // Targets are not even raised to what is held. The client may be in the middle of an allocation, which it undoes when it finds its target
            // lower, and others may have been given that memory in the meantime.
            return targets;
        }
        for (Map<Long, Long> wishes : List.of(firstBytes, goals)) {
            for (ClientAllotment seat : seats) {
                long id = seat.client.clientId();
                long beforeBytes = Math.max(targets.get(id), seat.client.occupiedBytes());
                long raisedBytes = Math.min(wishes.get(id), roomBytes + beforeBytes);
                if (raisedBytes > targets.get(id)) {
                    targets.put(id, raisedBytes);
                    roomBytes -= Math.max(0, raisedBytes - beforeBytes);
                }
            }
        }
        return targets;
    }

    private static String refusal(ClientAllotment seat, long capacityBytes) {
        ClientMemoryState client = seat.client;
        return String.format(Locale.ROOT, "client %d of tenant %s %s %.2f GiB, and at most %.2f of the %.2f GiB can be "
                + "free for it: the rest is in fixed use or guaranteed to others", client.clientId(), client.tenant(),
                seat.impossible() ? "needs" : "asks for", Math.max(client.neededBytes(), client.wantedBytes()) / GIB,
                Math.max(0, seat.possibleBytes) / GIB, capacityBytes / GIB);
    }

    private static String reason(long capacityBytes, ResidencyAssignment assignment, boolean fits, long nowNs) {
        long neededBytes = 0;
        int active = 0;
        List<ClientAllotment> filling = new ArrayList<>();
        for (ClientAllotment seat : assignment.seats()) {
            if (seat.active()) {
                active++;
                neededBytes += seat.client.neededBytes() + seat.client.fixedBytes();
                if (seat.client.contentBytes() < Math.min(seat.demandBytes, seat.goalBytes())) {
                    filling.add(seat);
                }
            }
        }
        String sentence = String.format(Locale.ROOT, "%d active client%s need%s %.2f GiB of %.2f GiB%s", active,
                active == 1 ? "" : "s", active == 1 ? "s" : "", neededBytes / GIB, capacityBytes / GIB,
                fits ? "" : ", turns are needed");
        if (filling.isEmpty()) {
            return sentence;
        }
        ClientMemoryState first = filling.getFirst().client;
        double missing = Math.max(0, filling.getFirst().demandBytes - first.contentBytes()) / GIB;
        return first.running()
                ? String.format(Locale.ROOT, "%s; %.2f GiB come in for client %d", sentence, missing, first.clientId())
                : String.format(Locale.ROOT, "%s; %.2f GiB come in for client %d ahead of its turn in %.1f s", sentence,
                        missing, first.clientId(), Math.max(0, first.nextTurnNs() - nowNs) / 1e9);
    }
}
