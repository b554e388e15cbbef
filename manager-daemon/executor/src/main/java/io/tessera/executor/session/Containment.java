package io.tessera.executor.session;

import io.tessera.device.CudaResult;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.hang.NativeDrain;
import io.tessera.executor.fence.hang.Watchdog;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.window.ClientWindow;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Confines faults of one client's kernels to that client: their reports become its error, endless kernels are ended, and before another client is admitted,
 * its unfenced work has to end. One owner thread.
 */
final class Containment {
    private static final long TIDY_NS = 20_000_000L;
    /** Interval of checks while waits of streams are ended: a stream may have thousands of waits in sequence. */
    static final long RELEASE_NS = 50_000L;
    /** Interval of checks while streams wait for the program and others may wait for them. */
    private static final long STANDING_NS = 5_000_000L;
    private static final Logger LOG = LoggerFactory.getLogger(Containment.class);

    private final DriverCalls driver;
    private final ClientHandles handles;
    private final ClientStreams streams;
    private final ClientFences fences;
    private final ClientWindow window;
    private final RelaySegment segment;
    private final SynchronizationGate.Client synchronization;
    private final Reports reports;
    private final String name;
    private final NativeDrain drain;
    /** When kernels that were ordered to end must have ended; 0: no order was given. */
    private long endsNs;
    private long tidyNs;
    /** Whether the last kernels of a client that was ended by an error of its own were checked. */
    private boolean lookedLast;
    /** Whether the other work of the client's user was ordered to end, too. This happens once, so that new programs of the user cannot delay the end. */
    private boolean spread;

    Containment(ClientExecution execution, ClientWindow window, RelaySegment segment, SynchronizationGate.Client synchronization,
            Reports reports, String name) {
        this.driver = execution.driver();
        this.handles = execution.handles();
        this.streams = execution.streams();
        this.fences = execution.fences();
        this.window = window;
        this.segment = segment;
        this.synchronization = synchronization;
        this.reports = reports;
        this.name = name;
        this.drain = new NativeDrain(fences.member(), streams, driver);
    }

    /** Does all checks, between records. */
    void look(RecordDispatcher records, long nowNs) {
        if (records.isGone()) {
            return;
        }
        int violated = fences.violated();
        if (violated != CudaResult.SUCCESS && !records.isLost()) {
            LOG.warn("{}: its kernels did what they must not: error {} for it alone", name, violated);
            records.refuse(violated);
        }
        if (violated != CudaResult.SUCCESS && !lookedLast && streams.query() == CudaResult.SUCCESS) {
            lookedLast = true; // it launches nothing more, so the tenant's next client need not wait until this one has left
            records.lookLast();
        }
        if (drain.isDue()) {
            int result = drain.poll();
            if (result != CudaResult.SUCCESS) {
                records.lose(result, "unfenced work of " + name);
                return;
            }
        }
        late(records, nowNs);
        if (isTidied() && nowNs - tidyNs > TIDY_NS) {
            tidyNs = nowNs;
            if (streams.query() == CudaResult.SUCCESS) {
                fences.quiet();
                heldOver(records);
            }
        }
    }

    private boolean isTidied() {
        return fences.isLeaving() || handles.deferredReleases().isDue();
    }

    /** Frees the objects that the client's graphs used, after the graphs have ended. */
    private void heldOver(RecordDispatcher records) {
        if (!handles.deferredReleases().isDue()) {
            return;
        }
        boolean whole = window.enter();
        try {
            int result = whole ? handles.deferredReleases().release() : CudaResult.SUCCESS;
            if (result != CudaResult.SUCCESS) {
                records.lose(result, "the end of what graphs used of " + name);
            }
        } finally {
            window.leave();
        }
    }

    private void late(RecordDispatcher records, long nowNs) {
        Watchdog watchdog = fences.watchdog();
        if (synchronization.isStanding()) {
            standing(watchdog);
        }
        if (endsNs != 0) {
            ending(nowNs);
        } else if (watchdog.isHalted() && !records.isLost() || watchdog.isExpired(nowNs)) {
            List<String> kernels = fences.kernels().recent();
            expired(records, nowNs, "a kernel of this program did not end in time and is ended; "
                    + (kernels.isEmpty() ? "all launches were of graphs" : "the last launches were: " + String.join(", ", kernels)));
        } else if (watchdog.isWaitedForTooLong(nowNs) && !records.isLost()) {
            expired(records, nowNs, "a stream of this program waited for the program for longer than a kernel may run, while "
                    + "others needed the whole device: its waits are ended");
        }
    }

    private void standing(Watchdog watchdog) {
        if (watchdog.waitsUnseen() && streams.query() == CudaResult.SUCCESS) {
            watchdog.idle();
        } else {
            watchdog.forgetPauses();
        }
    }

    /**
     * Does the checks that must not be delayed while the client's thread waits for others or for its own streams.
     *
     * @param going whether the client is leaving: then it must not wait while one of its own streams waits, which nobody else ends
     * @return whether to continue to wait
     */
    boolean whileWaiting(RecordDispatcher records, long nowNs, boolean going) {
        late(records, nowNs);
        return !records.isLost() && !(going && synchronization.isStanding());
    }

    /** Returns how long the thread may sleep until the next check here is due; the given time if none is due. */
    long sleepNs(long otherwise) {
        if (synchronization.isStanding()) {
            return endsNs != 0 ? RELEASE_NS : Math.min(otherwise, STANDING_NS);
        }
        return drain.isDue() || isTidied() || endsNs != 0 ? Math.min(otherwise, TIDY_NS) : otherwise;
    }

    private void expired(RecordDispatcher records, long nowNs, String text) {
        LOG.warn("{}: {}", name, text);
        segment.notice(text);
        records.refuse(CudaResult.LAUNCH_TIMEOUT); // before its work ends, which a waiting thread would take for success
        fences.stops().stop();
        endsNs = nowNs + WaitLimit.WORK_END.mostNs() + streams.moveTime().graceNs();
    }

    /** Returns the reason for which an executor ends when work does not end. */
    static String endless(String name) {
        return "work of " + name + " did not end within " + WaitLimit.WORK_END.mostNs() / 1_000_000_000L
                + " s after it was told to; copies have more time";
    }

    private void ending(long nowNs) {
        release(nowNs); // otherwise its work might not end because of a waiting stream, and not because of its kernels
        if (streams.query() != CudaResult.NOT_READY) {
            endsNs = 0;
            fences.watchdog().ended();
        } else if (nowNs - endsNs > 0 && !spread && fences.member().haltOthersOfUser(nowNs)) {
            spread = true;
            LOG.warn("{}: its work does not end; what else its user runs is ended, for which it may wait", name);
            endsNs = nowNs + WaitLimit.WORK_END.mostNs();
        } else if (nowNs - endsNs > 0) {
            endsNs = 0;
            reports.stuck(fences.member().tenant(), endless(name));
        }
    }

    /**
     * Ends waits of a client's streams, for completion words and for values. Called repeatedly, because one wait may follow another. While the tenant's memory
     * is off the device, none of its streams waits, and the addresses of values are unmapped.
     */
    void release(long nowNs) {
        for (int word = 0; word < RelayLayout.WORDS; word++) {
            segment.word(word, 0);
        }
        if (!window.isOpen() || !window.isAway()) {
            streams.awaited().release(driver, nowNs);
        }
    }
}
