package io.tessera.executor.window;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * Tracks which of a tenant's clients can have made the writes that a check finds in the sink. A client is a suspect from its first launch until its kernels
 * have ended. Writes that no check has found by then are leftovers. A client is the sole suspect if there is no other and there are no leftovers. That must
 * still hold when its check runs on the device. So there is an epoch, which changes before another client launches anything: within an epoch, clients only
 * leave, so at most one client of an epoch is ever the sole suspect. Any thread.
 */
final class SinkSuspects {
    /** No epoch, and no leftovers. */
    static final long NONE = 0;
    /** The epoch of a tenant that has launched nothing. */
    static final long FIRST_EPOCH = 1;

    private final LongConsumer changed;
    private final Map<Integer, WindowClient> working = new HashMap<>();
    private int lastWriter;
    private long epoch = FIRST_EPOCH;
    private volatile long left = NONE;
    private volatile long swept = NONE;

    /**
     * Creates an instance in which no client has launched anything.
     *
     * @param changed receives each epoch after the first, before a client launches anything in it
     */
    SinkSuspects(LongConsumer changed) {
        this.changed = changed;
    }

    /** Records that a client is about to launch its first kernel. */
    synchronized void begins(WindowClient client) {
        epoch++;
        changed.accept(epoch);
        lastWriter++;
        client.writes(lastWriter);
        working.put(lastWriter, client);
    }

    /**
     * Records that the kernels of a client have ended.
     *
     * @param checked whether a check that began after that has found what they wrote
     */
    synchronized void ends(WindowClient client, boolean checked) {
        working.remove(client.writer());
        left += checked ? 0 : 1;
    }

    /** Returns the epoch in which the client alone can have written what is in the sink; {@link #NONE}: others can have. */
    synchronized long sole(WindowClient client) {
        return working.size() == 1 && working.get(client.writer()) == client && left == swept ? epoch : NONE;
    }

    /** Returns whether a suspect has left or is about to, so that it will soon be none. */
    synchronized boolean isSomebodyLeaving() {
        return working.values().stream().anyMatch(client -> client.isLeaving() || client.isCheckedLast());
    }

    /** Returns a number that grows with clients that ended unchecked, for {@link #swept}; {@link #NONE}: they have left no writes. */
    long leftovers() {
        long now = left;
        return now == swept ? NONE : now;
    }

    /** Records the end of a check that began when the leftovers had this number. */
    synchronized void swept(long leftovers) {
        swept = Math.max(swept, leftovers);
    }

    /** Records that a check has found writes that only one client can have made. Does nothing if the client has left. */
    synchronized void strays(int writer) {
        WindowClient client = working.get(writer);
        if (client != null) {
            client.strays();
        }
    }
}
