package io.tessera.executor.part;

import io.tessera.clock.Clocks;
import io.tessera.executor.turn.SubmissionGate;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Figures of one client's work, and the part of the processors on which its kernels run. Thread-safe. */
public final class ClientPart {
    private static final long NOT_RUNNING = Long.MIN_VALUE;

    private final String tenant;
    private final SubmissionGate.Client turn;
    private final Consumer<ClientPart> leave;
    private volatile BooleanSupplier busy = () -> false;
    private volatile boolean full;
    private volatile int part = ProcessorParts.WHOLE;
    private volatile boolean beside;
    private volatile boolean replayable;
    private volatile boolean interactiveWork;
    private volatile boolean toStop;
    private volatile long runningSinceNs = NOT_RUNNING;
    /** Written by the client's owner thread. */
    private volatile long replays;
    private volatile long lostNs;

    /** Creates a client on all processors, without work, which is neither observed nor held back. */
    public ClientPart(String tenant) {
        this(tenant, new SubmissionGate(Clocks.system().monotonic()).join(tenant), _ -> {});
    }

    /**
     * Creates a client on all processors, without work.
     *
     * @param turn  says when its tenant may submit
     * @param leave called when the client has left
     */
    ClientPart(String tenant, SubmissionGate.Client turn, Consumer<ClientPart> leave) {
        this.tenant = tenant;
        this.turn = turn;
        this.leave = leave;
    }

    /** Removes the client, which has left or whose work is given up. */
    public void leave() {
        turn.leave();
        leave.accept(this);
    }

    /** Returns its tenant, by a name that is unique among users. */
    public String tenant() {
        return tenant;
    }

    /** Returns the gate that says when its tenant may submit. */
    public SubmissionGate.Client turn() {
        return turn;
    }

    /** Records that the client has begun, on the calling thread. The argument tells whether the client has work on the device; any thread may call it. */
    public void busy(BooleanSupplier asked) {
        turn.begin(asked);
        busy = asked;
    }

    /** Returns whether work of it is on the device. */
    boolean isBusy() {
        return busy.getAsBoolean();
    }

    /** Sets whether the client has queued as much work as it may, so that it submits ahead instead of waiting for results. */
    public void full(boolean now) {
        if (full != now) {
            full = now;
        }
    }

    boolean isFull() {
        return full;
    }

    /** Returns the part ({@link ProcessorParts}) that its kernels are to run on from now on. */
    public int part() {
        return part;
    }

    /** Returns whether another tenant has had work lately: then this one's queue is bounded tightly. */
    public boolean isBesideOthers() {
        return beside;
    }

    /** Returns whether long kernels of it may be stopped and run again. */
    public boolean isReplayable() {
        return replayable;
    }

    /** Returns whether an interactive tenant other than its own has work on the device. */
    public boolean isAwaitedByInteractive() {
        return interactiveWork;
    }

    /** Returns whether its kernel is to be stopped now. */
    public boolean isToStop() {
        return toStop;
    }

    /** Records that a kernel of it that can be stopped began, and when. The client's owner thread. */
    public void running(long sinceNs) {
        runningSinceNs = sinceNs;
    }

    /** Records that it has no such kernel on the device any more. The client's owner thread. */
    public void runningNoMore() {
        runningSinceNs = NOT_RUNNING;
    }

    /** Returns when its kernel that can be stopped began; only if there is one. */
    long runningSinceNs() {
        return runningSinceNs;
    }

    /** Returns whether a kernel of it that can be stopped is on the device. */
    boolean isRunning() {
        return runningSinceNs != NOT_RUNNING;
    }

    /**
     * Sets what concerns its kernels that can be stopped.
     *
     * @param mayReplay         whether it may have such kernels
     * @param isInteractiveWork whether an interactive tenant other than its own has work on the device
     * @param stops             whether its kernel is to be stopped now
     */
    void decided(boolean mayReplay, boolean isInteractiveWork, boolean stops) {
        if (replayable != mayReplay || interactiveWork != isInteractiveWork || toStop != stops) {
            replayable = mayReplay;
            interactiveWork = isInteractiveWork;
            toStop = stops;
        }
    }

    /** Records that a kernel of it was stopped and is to run again; the argument is the time that it had run. The client's owner thread. */
    public void replays(long ranNs) {
        replays++;
        lostNs += ranNs;
    }

    /** Returns how many times a kernel of it was stopped and ran again. */
    public long replays() {
        return replays;
    }

    /** Returns for how long kernels had run that were stopped, in ns. */
    public long lostNs() {
        return lostNs;
    }

    /** Sets where the client's kernels run from now on, and whether another tenant has had work lately. */
    public void decided(int newPart, boolean isBeside) {
        part = newPart;
        beside = isBeside;
    }
}
