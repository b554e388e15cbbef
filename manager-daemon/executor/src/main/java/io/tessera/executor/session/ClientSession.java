package io.tessera.executor.session;

import com.sun.management.ThreadMXBean;
import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DriverFailedException;
import io.tessera.executor.driver.FatalErrors;
import io.tessera.executor.fence.FenceFigures;
import io.tessera.executor.part.ClientPart;
import io.tessera.executor.ring.BrokenRingException;
import io.tessera.executor.ring.RingConsumer;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.os.FutexPort;
import io.tessera.os.LinuxException;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client and the thread that does its work: records, watched events and open marks. {@link #end} and the getters may be called by any thread; all else
 * belongs to the owner thread. The owner of the session unmaps the segment after {@link #isOver}.
 */
public final class ClientSession {
    /** Maximum number of records that are executed before all other checks are made. */
    private static final int BATCH = 256;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final Logger LOG = LoggerFactory.getLogger(ClientSession.class);

    private final Admission.Client who;
    private final long clientId;
    private final String name;
    private final RelaySegment segment;
    private final Function<Arena, ClientState> makeState;
    private final ClientPart part;
    private final FutexPort futex;
    private final NanoClock clock;
    private final Reports reports;
    private final RecordCounters nothing = new RecordCounters();
    private volatile boolean ending;
    private volatile int lostResult;
    private volatile boolean over;
    /** Whether the device may still write to memory of the segment. */
    private boolean stuck;
    private volatile RecordDispatcher dispatcher;
    private volatile ClientState state;
    private Containment contain;
    private MemoryPresence presence;
    private RecordExecutors executors;
    /** Whether the client's work is done and its objects are being freed. Owned by the owner thread. */
    private boolean freeing;
    private volatile Thread thread;
    private IdleWait waiting;

    /**
     * Creates a client whose thread has not begun.
     *
     * @param makeState makes the client's state, with memory of an arena of the session's
     * @param part      the part of the processors on which its kernels run
     */
    ClientSession(Admission.Client who, RelaySegment segment, Function<Arena, ClientState> makeState, ClientPart part,
            FutexPort futex, NanoClock clock, Reports reports) {
        this.who = who;
        this.clientId = who.clientId();
        this.name = "client " + clientId + " (pid " + who.pid() + ", tenant \"" + who.tenant() + "\")";
        this.segment = segment;
        this.makeState = makeState;
        this.part = part;
        this.futex = futex;
        this.clock = clock;
        this.reports = reports;
    }

    /** Begins the client's thread. */
    public void start() {
        thread = Thread.ofPlatform().name("client-" + clientId).daemon().start(this::run);
    }

    private void run() {
        try (Arena arena = Arena.ofConfined()) {
            ClientState made = makeState.apply(arena);
            state = made;
            made.execution().device().enter(made.execution().driver());
            presence = new MemoryPresence(made.allocations().window(), segment, name);
            contain = new Containment(made.execution(), made.allocations().window(), segment, made.synchronization(), reports, name);
            waiting = new IdleWait(made.execution().streams().parts(), made.allocations().window(), made.allocations().pools(), made.completion(),
                    made.synchronization(), futex, contain, part, () -> ending);
            executors = RecordExecutors.of(made.execution(), made.allocations(), made.completion(), made.images(), made.pinned(), arena, clock);
            try (RecordDispatcher records = new RecordDispatcher(made.execution(), made.completion(), executors, futex, clock, reports,
                    made.allocations().window()::isAway)) {
                dispatcher = records;
                part.busy(made.execution().streams().parts()::isWorking);
                BooleanSupplier goOn = () -> freeing ? goesOnFreeing() : contain.whileWaiting(records, clock.nanoTime(), ending);
                made.synchronization().whileWaiting(goOn, made.allocations().window()::outside);
                made.allocations().pools().whileWaiting(goOn);
                made.allocations().window().whileWaiting(goOn);
                serveToTheEnd(records, new RingConsumer(segment, arena));
            }
        } catch (DriverFailedException e) {
            LOG.error("{} cannot be served: {}", name, e.getMessage());
            segment.contextError(CudaResult.CONTEXT_IS_DESTROYED);
        } catch (RuntimeException | Error e) {
            LOG.error("{} cannot be served, or its end failed", name, e);
            segment.contextError(CudaResult.CONTEXT_IS_DESTROYED);
        } finally {
            ClientState known = state;
            if (known != null) {
                known.allocations().window().abandon();
                known.synchronization().leave();
            }
            part.leave();
            segment.end();
            over = !stuck;
        }
    }

    /** Serves the client. However serving ends, the client's work is ended and its memory is freed. */
    private void serveToTheEnd(RecordDispatcher records, RingConsumer ring) {
        try {
            serve(records, ring);
        } catch (BrokenRingException e) {
            LOG.warn("{} is ended: {}", name, e.getMessage());
        } catch (LinuxException | RuntimeException | Error e) {
            LOG.error("{} is ended because its thread failed", name, e);
        }
        try {
            finish(records);
        } catch (RuntimeException | Error e) {
            LOG.error("what {} had cannot be taken back", name, e);
            giveUp("what " + name + " had cannot be taken back");
        }
    }

    private void giveUp(String why) {
        stuck = true;
        reports.stuck(state.execution().fences().member().tenant(), why);
    }

    private void serve(RecordDispatcher records, RingConsumer ring)
            throws LinuxException, BrokenRingException {
        int opened = state.allocations().window().open();
        if (opened != CudaResult.SUCCESS) {
            LOG.error("{} has no window ({})", name, opened);
            segment.notice(state.allocations().window().refusal());
            records.refuse(opened);
            return;
        }
        state.pinned().use(state.allocations().window().hostAddresses());
        int registered = state.completion().words().register();
        if (registered != CudaResult.SUCCESS) {
            LOG.error("{}: its words cannot be registered with the device ({})", name, registered);
            records.refuse(registered);
        }
        state.allocations().window().wakenBy(this::wake);
        state.execution().fences().strayWrites().tellAt(state.completion().words().errorAddress());
        long idleSinceNs = 0; // 0: not idle
        while (!ending) {
            long nowNs = clock.nanoTime();
            boolean full = state.execution().streams().isFull();
            part.full(full);
            int work = full ? 0 : poll(records, ring, BATCH, nowNs);
            look(records, nowNs);
            presence.giveWay(records);
            if (full) {
                state.allocations().window().rest();
                BoundedWait.moment(WaitLimit.FULL_STREAMS);
                continue;
            }
            if (work == 0 && (part.turn().isHeld() || records.isLaunching())) {
                hold();
                continue;
            }
            if (work > 0) {
                records.counters().publish();
                idleSinceNs = 0;
                continue;
            }
            if (idleSinceNs == 0) {
                idleSinceNs = nowNs;
            }
            waiting.idle(records, ring, nowNs - idleSinceNs);
        }
        state.allocations().window().leaving();
        records.unheard();
        pollRest(records, ring);
    }

    /** Waits until it is the tenant's turn, a launch goes on, or another check is due. */
    private void hold() {
        state.allocations().window().rest();
        boolean working = state.execution().streams().parts().isWorking() || !state.completion().watch().isEmpty();
        BoundedWait.moment(working ? WaitLimit.HELD_WORKING : WaitLimit.HELD);
    }

    /**
     * Executes, for a limited time, the records that a client left behind without waiting for them. (Without an executor, such work would end with the
     * process.) If the client's streams are full, its waits and its kernels are ended first.
     */
    private void pollRest(RecordDispatcher records, RingConsumer ring) throws BrokenRingException {
        BoundedWait rest = BoundedWait.begin(clock, WaitLimit.LEFT_RECORDS);
        int work;
        do {
            while (state.execution().streams().isFull() && !records.isGone() && lostResult == CudaResult.SUCCESS) {
                state.execution().fences().stops().stop();
                if (releaseAndAsk() != CudaResult.NOT_READY) {
                    break;
                }
                if (rest.isOver()) {
                    return; // if that work is stuck, the end of the session finds it
                }
                rest.pause();
            }
            work = poll(records, ring, BATCH, clock.nanoTime());
        } while (work > 0 && !rest.isOver());
    }

    /** Executes records; while pages of the tenant's window change, the client waits here. */
    private int poll(RecordDispatcher records, RingConsumer ring, int most, long nowNs)
            throws BrokenRingException {
        if (!presence.admits(records, ring.hasWork())) {
            return 0;
        }
        boolean whole = state.allocations().window().enter();
        try {
            if (!presence.isServed(records)) {
                return 0;
            }
            if (!whole && !records.isLost()) {
                LOG.error("{} is ended: the driver refuses memory behind its window", name);
                records.refuse(CudaResult.OUT_OF_MEMORY);
            }
            records.batching().begin(ring.wasEmpty());
            int work = ring.poll(records, most, nowNs);
            if (work > 0) {
                state.allocations().window().worked();
            }
            return work;
        } finally {
            records.batching().end();
            state.allocations().window().leave();
        }
    }

    /** Does all checks between records. */
    private void look(RecordDispatcher records, long nowNs) {
        records.pollAwaited(nowNs);
        records.makeUpChecks(nowNs);
        waiting.askWhetherWorking(lostResult, nowNs);
        if (!state.completion().watch().isEmpty()) {
            int result = state.completion().watch().poll();
            if (FatalErrors.isFatal(result)) {
                records.lose(result, "a watched event");
            } else if (result != CudaResult.SUCCESS) {
                segment.callError(result);
            }
        }
        if (lostResult != CudaResult.SUCCESS && !records.isLost()) {
            records.refuse(lostResult);
        }
        contain.look(records, nowNs);
        state.allocations().pools().poll(nowNs);
        int result = records.marks().poll(nowNs);
        if (result == CudaResult.SUCCESS && state.completion().printing().isAwaited()) {
            result = state.completion().printing().poll();
        }
        if (result != CudaResult.SUCCESS && !records.isLost()) {
            records.lose(result, "work of " + name);
        }
    }

    /** Ends a client that has left: its work ends or is abandoned, then all its objects are freed. */
    private void finish(RecordDispatcher records) {
        state.allocations().window().leaving();
        records.counters().publish();
        if (lostResult != CudaResult.SUCCESS || records.isGone() || !state.allocations().window().isOpen()) {
            return; // the context is lost with everything in it, or nothing was ever made
        }
        state.execution().fences().stops().stop();
        long untilNs = clock.nanoTime() + WaitLimit.WORK_END.mostNs() + state.execution().streams().moveTime().graceNs();
        boolean spread = false;
        int result;
        while ((result = releaseAndAsk()) == CudaResult.NOT_READY || stands()) {
            long nowNs = clock.nanoTime();
            if (nowNs - untilNs > 0 && !spread && state.execution().fences().member().haltOthersOfUser(nowNs)) {
                spread = true;
                LOG.warn("{} has left work that does not end; what else its user runs is ended, for which it may wait", name);
                untilNs = nowNs + WaitLimit.WORK_END.mostNs();
            } else if (nowNs - untilNs > 0) {
                giveUp(Containment.endless(name));
                return;
            }
            BoundedWait.moment(state.execution().streams().awaited().isEmpty() ? WaitLimit.SESSION_END : WaitLimit.SESSION_END_RELEASING);
        }
        // Later calls may wait for others' work. Meanwhile the lateness of that work must not be excused by this client's.
        state.execution().fences().watchdog().ended();
        state.execution().streams().awaited().close(state.execution().driver());
        state.execution().fences().watchdog().idle();
        records.lookLast();
        freeing = true;
        if (!FatalErrors.isFatal(result)) {
            state.execution().fences().quiet();
            result = freeAll(records);
        }
        if (FatalErrors.isFatal(result)) {
            records.lose(result, "the end of " + name);
            return;
        }
        // With some drivers the next calls also wait for others' work, so memory is given back for their use first.
        state.execution().fences().quiet();
        state.allocations().window().giveBack();
        state.completion().printing().close();
        state.execution().fences().close();
        executors.launches().close();
        state.execution().streams().close();
        if (!executors.queries().unpinAll()) {
            LOG.warn("{} leaves pinned memory behind: other work of its tenant did not pause", name);
        }
        state.allocations().charge().close();
        state.execution().handles().account().close();
        state.pinned().close();
        state.allocations().window().close();
        state.completion().words().unregister();
        LOG.info("{} ended; everything is freed", name);
    }

    /** Declares that none of the client's streams waits: frees may have been submitted like waits, and the client must not wait for itself. */
    private boolean goesOnFreeing() {
        state.execution().fences().watchdog().nothingStands();
        return true;
    }

    private int freeAll(RecordDispatcher records) {
        state.allocations().window().enter();
        try {
            state.execution().handles().deferredReleases().close();
            int result = executors.resources().freeAll();
            int heldOver = state.execution().handles().deferredReleases().release();
            result = FatalErrors.isFatal(result) ? result : FatalErrors.isFatal(heldOver) ? heldOver : result;
            if (!FatalErrors.isFatal(result)) {
                state.allocations().pools().close();
            }
            return result;
        } finally {
            state.allocations().window().leave();
        }
    }

    /** Returns whether a stream that the client has destroyed may still wait, so that the following calls would wait for it. */
    private boolean stands() {
        state.execution().fences().watchdog().idle();
        return state.synchronization().isStanding();
    }

    /** Lets streams that wait for a host call continue, repeatedly while graphs make new ones. */
    private int releaseAndAsk() {
        contain.release(clock.nanoTime());
        return state.execution().streams().query();
    }

    /** Has the session end, soon. */
    public void end() {
        ending = true;
        Thread known = thread;
        if (known != null) {
            reports.leaves(known);
        }
        wake();
    }

    /** Ends the client because the device's context is lost, as its own thread or another client's found. The errors of all clients are decided together. */
    public void contextLost(FaultAttribution blame, FaultCandidate itself) {
        int result = itself == null ? CudaResult.CONTEXT_IS_DESTROYED : blame.resultFor(itself);
        if (itself != null) {
            blame.lineFor(itself).ifPresent(segment::notice);
        }
        lostResult = result;
        segment.contextError(result);
        wake();
    }

    private void wake() {
        try {
            futex.wake(segment.parkedWord());
        } catch (LinuxException e) {
            LOG.warn("{} is not woken, and looks up by itself within 100 ms: {}", name, e.getMessage());
        }
    }

    /** Returns whether the thread is done and the segment may be unmapped. */
    public boolean isOver() {
        return over && (thread == null || !thread.isAlive());
    }

    /** Returns the client as the manager announced it. */
    public Admission.Client who() {
        return who;
    }

    /** Returns the number that the manager had for the client when it came. */
    public long clientId() {
        return clientId;
    }

    /** Returns the segment that is shared with the client. */
    public RelaySegment segment() {
        return segment;
    }

    /** Returns the part of the processors on which the client runs. */
    public ClientPart part() {
        return part;
    }

    /** Returns the counters of the client's thread. */
    public RecordCounters counters() {
        RecordDispatcher records = dispatcher;
        return records == null ? nothing : records.counters();
    }

    /** Returns the bytes that the client's thread has allocated on the heap of this JVM so far; 0 before it begins and after it ends. */
    public long heapAllocatedBytes() {
        Thread known = thread;
        return known == null ? 0 : Math.max(0, THREADS.getThreadAllocatedBytes(known.threadId())); // -1: it has ended
    }

    /** Returns the device memory in use. */
    public long usedBytes() {
        ClientState known = state;
        return known == null ? 0 : known.allocations().charge().usedBytes();
    }

    /** Returns the figures of the client's fences; null before its thread has begun. */
    public FenceFigures fences() {
        ClientState known = state;
        return known == null ? null : known.execution().fences().figures();
    }

    /** Returns what the client was doing when the context was lost; null before its thread has begun. */
    public FaultCandidate suspect() {
        ClientState known = state;
        RecordDispatcher records = dispatcher;
        if (known == null || records == null) {
            return null;
        }
        return new FaultCandidate(known.execution().fences().member().tenant(), known.execution().fences().member().uid(), name,
                records.marks().hasWork() || records.hasSeenLoss(),
                known.execution().fences().kernels().ranUnfenced(), known.execution().fences().kernels().recent());
    }

    @Override
    public String toString() {
        return name;
    }
}
