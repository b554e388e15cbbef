package io.tessera.executor.launch;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.ClientKernels;
import io.tessera.executor.fence.KernelStops;
import io.tessera.executor.fence.LaunchPlan;
import io.tessera.executor.fence.Launchable;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.part.ClientPart;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A long launch of a replayable tenant. It is stopped when an interactive tenant waits for the device, and runs again from its beginning when that tenant has
 * no more work (TReM's replay). Only launches are taken whose writes are known ({@link WrittenRanges}); memory that they write and read is copied before, and
 * copied back before they run again. While the launch is on the device, the client submits nothing else: the stop word stops all of its kernels.
 *
 * <pre>
 *   none ──> idle? ──> running ──done──> launched ──record is taken──> none
 *               │       ^    └─interactive work─> stopping ──> paused ─┐
 *               │       └──────────────────────────────────────────────┘
 *               └──> whole: its streams do not become idle
 * </pre>
 *
 * <p>A launch is stopped a bounded number of times, and not when it is nearly done: it always ends. One owner thread.
 */
final class ReplayedLaunch {
    /** Shorter launches are not taken: to wait for one of them costs an interactive tenant less than this. */
    static final long LONG_NS = GridSlicing.LONG_NS;
    /** Time that a launch has at least until it is stopped. */
    private static final long LEAST_NS = 2_000_000L;
    /** Time without interactive work after which the launch runs again: several times the gap between the kernels of one request. */
    private static final long QUIET_NS = 5_000_000L;
    /** Longest pause, whatever the interactive tenants do. */
    private static final long MOST_PAUSE_NS = 2_000_000_000L;
    /** After this many stops the launch runs to its end. */
    private static final int MOST_STOPS = 3;
    /** Part of its expected time after which a launch is not stopped. */
    private static final double NEARLY_DONE = 0.8;
    /** Time that the other work of the client has to become done. */
    private static final long IDLE_NS = 2_000_000_000L;
    /** Copies of changed memory may take a twentieth of a launch: they move some 1,000 bytes a ns on the device, there and back. */
    private static final long BYTES_PER_NS = 25;
    private static final Logger LOG = LoggerFactory.getLogger(ReplayedLaunch.class);

    /** Launches the whole grid with its fences. */
    @FunctionalInterface
    interface Submitter {
        /** Returns the driver's CUresult. */
        int submit(Launchable kernel, ClientStream stream) throws ProgramRefusedException, RejectedException;
    }

    private enum State {
        NONE, IDLE, RUNNING, STOPPING, PAUSED, LAUNCHED, WHOLE
    }

    private final ClientStreams streams;
    private final ClientKernels kernels;
    private final KernelStops stopWord;
    private final ClientMemory memory;
    private final ClientPart part;
    private final NanoClock clock;
    private final SavedMemory saved;
    private final PresentedLaunch presented;
    private State state = State.NONE;
    private Launchable kernel;
    private ClientStream stream;
    private WrittenRanges ranges;
    private boolean mayStop;
    private int stops;
    /** When the state was entered. */
    private long sinceNs;
    /** When the launch was last submitted. */
    private long startedNs;
    /** When interactive work was last seen. */
    private long rivalNs;

    /** @param record memory for a record, which only this object uses */
    ReplayedLaunch(ClientStreams streams, ClientFences fences, ClientMemory memory, ClientCharge charge, DriverCalls driver, NanoClock clock,
            MemorySegment record) {
        this.streams = streams;
        this.kernels = fences.kernels();
        this.stopWord = fences.stops();
        this.memory = memory;
        this.part = streams.parts().client();
        this.clock = clock;
        this.saved = new SavedMemory(charge, driver);
        this.presented = new PresentedLaunch(record);
    }

    /** Returns whether a launch may be taken at all. */
    boolean mayTake(LaunchPlan launch) {
        return isOpen() || part.isReplayable() && launch.attributes() == 0;
    }

    /** Returns whether a launch is in progress, whose record has to be presented again. */
    boolean isOpen() {
        return state == State.IDLE || state == State.RUNNING || state == State.STOPPING || state == State.PAUSED;
    }

    /**
     * Handles a launch at the head of the ring.
     *
     * @param launch     of a whole record
     * @param recordSize length of the record
     * @param target     its stream; null if there is none
     * @return whether the record has to be presented again
     */
    boolean comesAgain(LaunchPlan launch, int recordSize, ClientStream target, Submitter submitter) {
        if (state != State.NONE && !presented.isSame(launch.record(), recordSize)) {
            leave(); // the program has changed the record, which is now another launch
        }
        long nowNs = clock.nanoTime();
        if (state == State.NONE) {
            begin(launch, recordSize, target, nowNs);
        }
        if (part.isAwaitedByInteractive()) {
            rivalNs = nowNs;
        }
        if (state == State.IDLE) {
            awaitIdle(submitter, nowNs);
        } else if (state == State.RUNNING) {
            run(nowNs);
        } else if (state == State.STOPPING) {
            awaitStop(nowNs);
        } else if (state == State.PAUSED) {
            pause(submitter, nowNs);
        }
        return isOpen();
    }

    /** Records that another record was taken: the program has replaced the launch that was in progress. */
    void other() {
        if (isOpen()) {
            leave();
        }
    }

    /** Ends the launch whose record is taken now. Returns whether it was launched here; {@link #result} has its result. */
    boolean taken(MemorySegment taken, int recordSize) {
        boolean launched = state == State.LAUNCHED && presented.isSame(taken, recordSize);
        if (state != State.NONE) {
            leave();
        }
        return launched;
    }

    /**
     * Returns the CUresult of the last launch that was taken.
     *
     * @throws ProgramRefusedException if it was refused
     */
    int result() throws ProgramRefusedException {
        return presented.result();
    }

    private void begin(LaunchPlan launch, int recordSize, ClientStream target, long nowNs) {
        Launchable found = target == null || !part.isReplayable() || streams.isCapturing(target) ? null : known(launch);
        if (found == null || found.writes() == null || !stopWord.canGoOn()) {
            return;
        }
        boolean isShort = found.wholeNs() > 0 && found.wholeNs() < LONG_NS;
        if (isShort && !(target.longestNs() >= LONG_NS && found.isToBeMeasuredAgain())) {
            return;
        }
        long expectedNs = Math.max(found.wholeNs(), target.longestNs());
        WrittenRanges written = WrittenRanges.of(found.writes(), launch, memory);
        String why = found.mayWaitForBlocks() ? "its blocks may wait for each other, or for other work" : written.unknown();
        if (why != null) {
            say(found, why);
            return;
        }
        boolean cheap = written.changedBytes() <= BYTES_PER_NS * expectedNs;
        if (expectedNs > 0 && !(cheap && saved.reserve(written.changedBytes()))) {
            say(found, "the memory that it changes, " + written.changedBytes()
                    + " bytes, is too large to be copied for each launch, or there is no room for the copy");
            return;
        }
        mayStop = cheap; // else it is only awaited, so that its time is known
        kernel = found;
        stream = target;
        ranges = written;
        presented.begin(launch.record(), recordSize);
        stops = 0;
        enter(State.IDLE, nowNs);
    }

    /** Logs once for each kernel why it is not run again: a program may launch it a thousand times a second. */
    private static void say(Launchable whole, String why) {
        if (whole.toSay()) {
            LOG.info("kernel {} cannot be stopped and run again: {}", whole.name(), why);
        }
    }

    private Launchable known(LaunchPlan launch) {
        try {
            return kernels.launchable(launch.function());
        } catch (ProgramRefusedException e) {
            return null; // the user learns of it when the record is taken
        }
    }

    private void enter(State next, long nowNs) {
        state = next;
        sinceNs = nowNs;
    }

    private void awaitIdle(Submitter submitter, long nowNs) {
        if (streams.query() == CudaResult.SUCCESS) {
            submit(submitter, nowNs);
        } else if (nowNs - sinceNs > IDLE_NS || streams.mayStand()) {
            state = State.WHOLE;
        }
    }

    private void submit(Submitter submitter, long nowNs) {
        startedNs = nowNs;
        try {
            int copied = !mayStop ? CudaResult.SUCCESS : stops == 0 ? saved.save(ranges.changed(), stream.value())
                    : saved.restore(ranges.changed(), stream.value());
            presented.ends(copied == CudaResult.SUCCESS ? submitter.submit(kernel, stream) : copied);
        } catch (ProgramRefusedException e) {
            presented.refused(e);
        } catch (RejectedException e) {
            presented.ends(e.result());
        }
        boolean launched = presented.isGood();
        enter(launched ? State.RUNNING : State.LAUNCHED, nowNs);
        if (launched && mayStop) {
            part.running(nowNs);
        }
    }

    private void run(long nowNs) {
        int done = streams.query(stream);
        if (done != CudaResult.NOT_READY) {
            part.runningNoMore();
            kernel.tookWhole(nowNs - sinceNs);
            presented.ends(done);
            enter(State.LAUNCHED, nowNs);
        } else if (part.isToStop() && nowNs - sinceNs > LEAST_NS && mayStop(nowNs)) {
            stopWord.stopForNow();
            part.runningNoMore();
            enter(State.STOPPING, nowNs);
        }
    }

    /** A launch on a part of the processors leaves the rest to others. */
    private boolean mayStop(long nowNs) {
        boolean nearlyDone = kernel.wholeNs() > 0 && nowNs - sinceNs > NEARLY_DONE * kernel.wholeNs();
        return mayStop && stops < MOST_STOPS && !nearlyDone && stream.value() == stream.whole();
    }

    private void awaitStop(long nowNs) {
        int done = streams.query(stream);
        if (done == CudaResult.NOT_READY) {
            return; // a kernel that does not look at the word is waited for; the watchdog bounds that
        }
        stopWord.goOn();
        stops++;
        part.replays(nowNs - startedNs);
        presented.ends(done);
        enter(done == CudaResult.SUCCESS ? State.PAUSED : State.LAUNCHED, nowNs);
    }

    private void pause(Submitter submitter, long nowNs) {
        if (nowNs - Math.max(rivalNs, sinceNs) > QUIET_NS || nowNs - sinceNs > MOST_PAUSE_NS) {
            submit(submitter, nowNs);
        }
    }

    private void leave() {
        part.runningNoMore();
        if (state == State.STOPPING) {
            stopWord.goOn(); // the program has given the launch up, so nobody uses what it leaves
        }
        stream = null;
        kernel = null;
        ranges = null;
        state = State.NONE;
    }

    /** Gives the copy back; all work of the client is done. */
    void close() {
        saved.close();
    }
}
