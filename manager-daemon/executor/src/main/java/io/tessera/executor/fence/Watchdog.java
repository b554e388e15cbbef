package io.tessera.executor.fence;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.protocol.relay.RelaySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Finds kernels of a client that do not end. Events among the launches of each stream tell how far it has come; work between
 * two of them that takes longer than the timeout counts as endless, unless the stream may be waiting for the program itself.
 * One owner thread.
 */
public final class Watchdog {
    /** Launches from one event to the next: what runs between them is measured as one. */
    private static final int LAUNCHES = 64;
    private static final long INTERVAL_NS = 100_000_000L;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long DISABLE_TIMING = 2;

    private final ClientFences fences;
    private final DriverCalls driver;
    private final RelaySegment segment;
    private final Map<Long, Track> tracks = new HashMap<>();
    private final ArrayDeque<Long> spare = new ArrayDeque<>();
    private final Set<Integer> hostCalls = new HashSet<>();
    private boolean waitsForValues;
    private long nextNs;
    private long lookedNs;

    /** One stream's events that are not complete, the oldest first. */
    private static final class Track {
        private final ArrayDeque<Long> events = new ArrayDeque<>();
        private int launches;
        private long lastNs;
        /** Since when the oldest event is the next to be complete. */
        private long sinceNs;
    }

    /** For one client. */
    public Watchdog(ClientFences fences, DriverCalls driver, RelaySegment segment) {
        this.fences = fences;
        this.driver = driver;
        this.segment = segment;
    }

    private long timeoutNs() {
        FenceSettings settings = fences.settings();
        return SECOND_NS * (fences.member().isShared() ? settings.sharedTimeoutS() : settings.timeoutS());
    }

    /** A kernel was launched in a stream that captures nothing. */
    public void launched(long stream, long nowNs) {
        if (timeoutNs() == 0) {
            return;
        }
        Track track = tracks.computeIfAbsent(stream, _ -> new Track());
        if (++track.launches < LAUNCHES && nowNs - track.lastNs < INTERVAL_NS) {
            return;
        }
        track.launches = 0;
        track.lastNs = nowNs;
        Long event = spare.poll();
        if (event == null) {
            if (driver.call(DriverEntry.cuEventCreate, driver.out(0), DISABLE_TIMING) != CudaResult.SUCCESS) {
                return; // the next launch tries again; an error of the context is seen elsewhere
            }
            event = driver.outLong(0);
        }
        if (driver.call(DriverEntry.cuEventRecord, event, stream) != CudaResult.SUCCESS) {
            spare.add(event);
            return;
        }
        if (track.events.isEmpty()) {
            track.sinceNs = nowNs;
        }
        track.events.add(event);
    }

    /** A graph was launched in a stream that captures nothing; as of the last look at the clock. */
    public void graphLaunched(long stream) {
        Track track = tracks.get(stream);
        if (track != null) {
            track.launches = LAUNCHES; // whatever is in it counts as much as many launches
        }
        launched(stream, lookedNs);
    }

    /** A stream of the client is about to be destroyed. */
    public void forget(long stream) {
        Track track = tracks.remove(stream);
        if (track != null) {
            spare.addAll(track.events);
        }
    }

    /** A stream or graph waits for the program's function behind a word, now or whenever the graph runs. */
    public void hostCall(int word) {
        hostCalls.add(word);
    }

    /** The program has a stream wait for values in memory: from now on nobody can tell what it waits for. */
    public void waitsForValues() {
        waitsForValues = true;
    }

    /** Whether a kernel has been running for too long; looks at most ten times a second. */
    public boolean isExpired(long nowNs) {
        lookedNs = nowNs;
        if (nowNs < nextNs || tracks.isEmpty()) {
            return false;
        }
        nextNs = nowNs + INTERVAL_NS;
        long timeoutNs = timeoutNs();
        boolean expired = false;
        for (Track track : tracks.values()) {
            while (!track.events.isEmpty()
                    && driver.call(DriverEntry.cuEventQuery, track.events.peek()) == CudaResult.SUCCESS) {
                spare.add(track.events.poll());
                track.sinceNs = nowNs;
            }
            expired |= !track.events.isEmpty() && timeoutNs != 0 && nowNs - track.sinceNs > timeoutNs;
        }
        return expired && !waitsForValues && !waitsForProgram();
    }

    private boolean waitsForProgram() {
        return hostCalls.stream().anyMatch(word -> segment.word(word) != 0);
    }

    /** Destroys its events, when all work is done. */
    public void close() {
        tracks.values().forEach(track -> spare.addAll(track.events));
        tracks.clear();
        spare.forEach(event -> driver.call(DriverEntry.cuEventDestroy_v2, event));
        spare.clear();
    }
}
