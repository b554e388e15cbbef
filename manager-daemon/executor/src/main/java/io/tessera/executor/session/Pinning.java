package io.tessera.executor.session;

import io.tessera.executor.memory.PinnedMemory;
import io.tessera.os.LinuxException;
import io.tessera.os.Poller;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes clients' pinned memory on threads of its own: the system clears the pages first, which takes about a second for each GiB, and
 * heartbeats and new clients must not wait for that. One request of a connection at a time. The connections' thread owns it.
 */
final class Pinning implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Pinning.class);

    private final Poller poller;
    private final ExecutorService threads = Executors.newCachedThreadPool(Thread.ofPlatform().name("pinning-", 0).daemon().factory());
    private final Queue<Made> made = new ConcurrentLinkedQueue<>();
    private boolean closed;

    /**
     * Result of a request.
     *
     * @param offer the memory; the receiver closes its descriptor
     */
    record Made(Connection connection, PinnedMemory.Offer offer) {
    }

    /** Creates an instance that wakes a poller when memory was made. */
    Pinning(Poller poller) {
        this.poller = poller;
    }

    /** Begins to make the memory that a connection asked for. */
    void begin(Connection connection, long bytes, long notBelow) {
        PinnedMemory pinned = connection.pinnedMemory();
        threads.execute(() -> {
            made.add(new Made(connection, make(pinned, bytes, notBelow)));
            wake();
        });
    }

    /** Wakes the poller. Its descriptor may be another file's after {@link #close}. */
    private synchronized void wake() {
        if (closed) {
            return;
        }
        try {
            poller.wake();
        } catch (LinuxException e) {
            LOG.debug("the connections' thread looks up by itself: {}", e.getMessage());
        }
    }

    private static PinnedMemory.Offer make(PinnedMemory pinned, long bytes, long notBelow) {
        try {
            return pinned.create(bytes, notBelow);
        } catch (RuntimeException | Error e) {
            LOG.error("{} bytes of pinned memory cannot be made", bytes, e);
            return PinnedMemory.none();
        }
    }

    /** Returns the memory made next; null: none yet. */
    Made poll() {
        return made.poll();
    }

    /** Memory that is still being made is freed with the process. */
    @Override
    public synchronized void close() {
        closed = true;
        threads.shutdown();
    }
}
