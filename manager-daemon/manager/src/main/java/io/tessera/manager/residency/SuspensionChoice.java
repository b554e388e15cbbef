package io.tessera.manager.residency;

import io.tessera.manager.residency.Checkpoints.Action;
import io.tessera.memory.residency.MoveRates;
import java.util.Locale;

/**
 * The two ways in which whole processes leave their devices: by Tessera's own swap and a checkpoint of the rest, or by a checkpoint alone. The choice
 * is the quicker way out and back, as measured so far; each is measured again from time to time. One owner thread.
 */
final class SuspensionChoice {
    /** Number of suspensions in one way after which the other is measured again: drivers and loads change, but seldom. */
    static final int TRY_OTHER_AFTER = 16;

    private static final double GIB = 1L << 30;

    enum Way {
        /** Contents are moved out first; the checkpoint takes contexts and what cannot be moved. */
        SWAP_FIRST,
        /** The driver takes everything. */
        CHECKPOINT
    }

    record Chosen(Way way, String reason) {
    }

    private final CheckpointMeter meter = new CheckpointMeter();
    private Way last = Way.SWAP_FIRST;
    private int inRow;

    /** Adds a measurement of a checkpoint, or of its restore, of a process with this many bytes on its devices. */
    void measured(Action action, long bytes, long ns) {
        meter.measured(action, bytes, ns);
    }

    /**
     * Chooses the way for one process.
     *
     * @param contentBytes  bytes on its devices that Tessera's own swap can move
     * @param restBytes     bytes on its devices that only a checkpoint can take, without contexts
     * @param rates         rates of Tessera's own swap
     * @param hostRoomBytes host memory that the driver may take
     * @param pieces        whether some of it may be physical memory of other clients, which no checkpoint brings back
     */
    Chosen choose(long contentBytes, long restBytes, MoveRates rates, long hostRoomBytes, boolean pieces) {
        if (contentBytes < CheckpointMeter.SMALL_BYTES) {
            return new Chosen(Way.SWAP_FIRST, "by checkpoint, swap having little to move");
        }
        if (pieces) {
            return new Chosen(Way.SWAP_FIRST, "by swap first: physical memory of others came to it");
        }
        if (hostRoomBytes < contentBytes + restBytes) {
            return new Chosen(Way.SWAP_FIRST, String.format(Locale.ROOT, "by swap first: the host has room for %.2f GiB"
                    + " outside of its pinned memory", Math.max(0, hostRoomBytes) / GIB));
        }
        if (!meter.worked()) {
            return new Chosen(Way.SWAP_FIRST, "by swap first: no checkpoint was measured yet");
        }
        double swapNs = rates.moveNs(contentBytes, 0) + rates.moveNs(0, contentBytes) + meter.bothNs(restBytes);
        if (!meter.knowsBytes()) {
            return count(Way.CHECKPOINT, String.format(Locale.ROOT, "by checkpoint alone, to measure it: %.2f GiB by swap "
                    + "first take %.2f s out and back", contentBytes / GIB, swapNs / 1e9));
        }
        double checkpointNs = meter.bothNs(contentBytes + restBytes);
        Way better = checkpointNs < swapNs ? Way.CHECKPOINT : Way.SWAP_FIRST;
        String figures = String.format(Locale.ROOT, "%.2f GiB out and back take %.2f s by swap first, %.2f s by checkpoint "
                + "alone", contentBytes / GIB, swapNs / 1e9, checkpointNs / 1e9);
        if (better == last && inRow >= TRY_OTHER_AFTER) {
            Way other = better == Way.CHECKPOINT ? Way.SWAP_FIRST : Way.CHECKPOINT;
            return count(other, text(other) + ", to measure it again: " + figures);
        }
        return count(better, text(better) + ": " + figures);
    }

    private static String text(Way way) {
        return way == Way.CHECKPOINT ? "by checkpoint alone" : "by swap first";
    }

    private Chosen count(Way way, String reason) {
        inRow = way == last ? inRow + 1 : 1;
        last = way;
        return new Chosen(way, reason);
    }
}
