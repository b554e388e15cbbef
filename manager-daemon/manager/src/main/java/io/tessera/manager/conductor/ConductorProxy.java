package io.tessera.manager.conductor;

import io.tessera.os.LinuxException;
import io.tessera.os.Poller;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongConsumer;

/**
 * The way of other threads (signals, {@code close}) to the owner thread. Thread-safe, unbounded: its callers are a
 * person's signals.
 */
public final class ConductorProxy {
    private final Poller poller;
    private final Queue<LongConsumer> commands = new ConcurrentLinkedQueue<>();
    private boolean closed;

    /** Over the poller that the owner thread waits in. */
    public ConductorProxy(Poller poller) {
        this.poller = poller;
    }

    /**
     * Has a command run by the owner thread in its next cycle, with the time of that cycle.
     *
     * @return false if the owner thread has ended; the command is not run then
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

    /** Takes no more commands. The poller may be closed afterwards: no late signal can reach its descriptor. */
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
