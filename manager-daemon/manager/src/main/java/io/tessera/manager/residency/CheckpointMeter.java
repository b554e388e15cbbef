package io.tessera.manager.residency;

import io.tessera.manager.residency.Checkpoints.Action;
import java.util.EnumMap;
import java.util.Map;

/**
 * Measures the driver's checkpoints: the fixed cost of each, and the cost of bytes on the devices beyond that. One owner thread.
 */
final class CheckpointMeter {
    /** With less than this on the devices a checkpoint shows its fixed cost alone. */
    static final long SMALL_BYTES = 64L << 20;

    /** Weight of a new measurement against all earlier ones, as for moves (MoveRates). */
    private static final double WEIGHT = 0.25;
    private static final double UNKNOWN = -1;

    private static final class Cost {
        double baseNs = UNKNOWN;
        double nsPerByte = UNKNOWN;
    }

    private final Map<Action, Cost> costs = new EnumMap<>(Action.class);

    CheckpointMeter() {
        for (Action action : Action.values()) {
            costs.put(action, new Cost());
        }
    }

    /** Adds a measurement of an action on a process with this many bytes on its devices, without its contexts. */
    void measured(Action action, long bytes, long ns) {
        Cost cost = costs.get(action);
        if (bytes < SMALL_BYTES) {
            cost.baseNs = mixed(cost.baseNs, ns);
        } else {
            cost.nsPerByte = mixed(cost.nsPerByte, Math.max(0, ns - Math.max(0, cost.baseNs)) / bytes);
        }
    }

    private static double mixed(double before, double now) {
        return before == UNKNOWN ? now : (1 - WEIGHT) * before + WEIGHT * now;
    }

    /** Returns whether anything was measured both ways. */
    boolean worked() {
        return costs.values().stream().allMatch(cost -> cost.baseNs != UNKNOWN || cost.nsPerByte != UNKNOWN);
    }

    /** Returns whether the cost of bytes was measured both ways. */
    boolean knowsBytes() {
        return costs.values().stream().allMatch(cost -> cost.nsPerByte != UNKNOWN);
    }

    /** Returns the sum of both actions; an action that was not measured counts as 0. */
    double bothNs(long bytes) {
        double ns = 0;
        for (Cost cost : costs.values()) {
            ns += Math.max(0, cost.baseNs) + Math.max(0, cost.nsPerByte) * bytes;
        }
        return ns;
    }
}
