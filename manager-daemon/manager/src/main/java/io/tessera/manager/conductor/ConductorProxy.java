package io.tessera.manager.conductor;

import io.tessera.os.LinuxException;
import io.tessera.os.Poller;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongConsumer;

/**
 * The way by which other threads (signals, {@code close}) reach the owner thread. Thread-safe. Unbounded, because its callers are signals that a
 * person sends.
 */
public final class ConductorProxy {
    private final Poller poller;
    private final Queue<LongConsumer> commands = new ConcurrentLinkedQueue<>();
    private boolean closed;

    /** Creates a proxy for the poller in which the owner thread waits. */
    public ConductorProxy(Poller poller) {
        this.poller = poller;
    }

    /**
     * Queues a command, which the owner thread runs in its next cycle with the time of that cycle.
     *
     * @return false if the owner thread has ended; the command is then not run
     * @throws LinuxException if the owner thread cannot be woken
     */
    public synchronized boolean offer(LongConsumer command) throws LinuxException {
        if (closed) {
            return false;
        }
        commands.add(command);
        poller.wake();
        return true;
    }

    /** Stops taking commands. The poller may be closed afterwards: no late signal can reach its descriptor. */
    public synchronized void close() {
        closed = true;
    }

    int drain(long nowNs) {
        int done = 0;
        LongConsumer command;
        while ((command = commands.poll()) != null) {
            command.accept(nowNs);
            done++;
        }
        return done;
    }
}
