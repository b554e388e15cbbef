package io.tessera.executor.window;

import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.wait.BoundedWait;
import java.util.function.BooleanSupplier;

/**
 * A client as the window of its tenant sees it: its driver calls change the window, its streams have to rest, and it bounds the waits. One
 * owner thread, but for {@link #strays}, {@link #writer}, {@link #isLeaving} and {@link #isCheckedLast}.
 */
final class WindowClient {
    private final DriverCalls driver;
    private final ClientStreams streams;
    private WindowGate.Pass pass;
    private volatile boolean leaving;
    private volatile boolean strayed;
    private volatile boolean checkedLast;
    private volatile int writer;
    private BoundedWait waiting;
    private BooleanSupplier goOn = () -> true;
    private volatile Runnable waker = () -> {};

    WindowClient(DriverCalls driver, ClientStreams streams) {
        this.driver = driver;
        this.streams = streams;
    }

    DriverCalls driver() {
        return driver;
    }

    ClientStreams streams() {
        return streams;
    }

    /** Returns its pass for the window's gate; null: it has no window. */
    WindowGate.Pass pass() {
        return pass;
    }

    void joined(WindowGate.Pass own) {
        pass = own;
    }

    /** Wakes its thread if it sleeps. Any thread. */
    void wake() {
        waker.run();
    }

    void wakenBy(Runnable action) {
        waker = action;
    }

    /** Returns whether the client has left and its memory is not all given back. */
    boolean isLeaving() {
        return leaving;
    }

    void leaving(boolean now) {
        leaving = now;
    }

    /** Returns the wait that the client's thread is in, which also bounds its other waits; null: none. */
    BoundedWait waiting() {
        return waiting;
    }

    void waitsWithin(BoundedWait outer) {
        waiting = outer;
    }

    /** Returns whether the client's thread continues while it waits for the tenant's work to rest. */
    boolean goesOn() {
        return goOn.getAsBoolean();
    }

    void whileWaiting(BooleanSupplier asked) {
        goOn = asked;
    }

    /** Returns the number by which checks of the sink know the client, from its first launch on; 0: it has launched nothing. Any thread. */
    int writer() {
        return writer;
    }

    void writes(int number) {
        writer = number;
    }

    /** Returns whether its thread waits for a check behind all its kernels. Any thread. */
    boolean isCheckedLast() {
        return checkedLast;
    }

    void checkedLast(boolean now) {
        checkedLast = now;
    }

    /** Records that its kernels wrote where no program of the tenant has memory. Any thread. */
    void strays() {
        strayed = true;
    }

    /** Returns whether {@link #strays} was called. */
    boolean hasStrayed() {
        return strayed;
    }
}
