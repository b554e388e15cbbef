package io.tessera.os;

import java.util.HashMap;
import java.util.Map;

/**
 * A poll set with a handler per descriptor. One owner thread, except {@link #wake}.
 *
 * <p>Handlers are found by a token that is never reused. So an event of a descriptor that was closed earlier in the same batch reaches no handler,
 * even if its number already belongs to a new one. Owns the poll set and the wakeup descriptor, not the descriptors in the set.
 */
public final class Poller implements AutoCloseable {
    private final PollPort port;
    private final int poll;
    private final int wakeup;
    private final Map<Long, Handler> handlers = new HashMap<>();
    private long lastToken;

    /** Called when its descriptor is ready. */
    @FunctionalInterface
    public interface Handler {
        /** The descriptor is ready for these {@link PollPort} events. */
        void ready(int events);
    }

    /** Opens a poll set. */
    public Poller(PollPort port) throws LinuxException {
        this.port = port;
        this.poll = port.open();
        boolean done = false;
        int wakeupToClose = -1;
        try {
            wakeupToClose = port.openWakeup();
            port.add(poll, wakeupToClose, PollPort.READABLE, 0);
            done = true;
        } finally {
            if (!done) {
                port.close(poll);
                if (wakeupToClose >= 0) {
                    port.close(wakeupToClose);
                }
            }
        }
        this.wakeup = wakeupToClose;
    }

    /** Adds a descriptor and returns its token. */
    public long add(int descriptor, int interest, Handler handler) throws LinuxException {
        long token = ++lastToken;
        port.add(poll, descriptor, interest, token);
        handlers.put(token, handler);
        return token;
    }

    /** Changes the events that are waited for. */
    public void change(int descriptor, int interest, long token) throws LinuxException {
        port.change(poll, descriptor, interest, token);
    }

    /** Removes a descriptor; call it before the descriptor is closed. */
    public void remove(int descriptor, long token) throws LinuxException {
        handlers.remove(token);
        port.remove(poll, descriptor);
    }

    /** Waits at most this long, calls the handlers of ready descriptors, and returns how many were called. */
    public int dispatch(long timeoutNs) throws LinuxException {
        int[] called = new int[1];
        boolean[] woken = new boolean[1];
        port.await(poll, timeoutNs, (token, events) -> {
            if (token == 0) {
                woken[0] = true;
                return;
            }
            Handler handler = handlers.get(token);
            if (handler != null) {
                handler.ready(events);
                called[0]++;
            }
        });
        if (woken[0]) {
            port.clearWakeup(wakeup);
        }
        return called[0];
    }

    /** Ends a wait of the owner thread. Thread-safe. */
    public void wake() throws LinuxException {
        port.wake(wakeup);
    }

    @Override
    public void close() throws LinuxException {
        port.close(wakeup);
        port.close(poll);
    }
}
