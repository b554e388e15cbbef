package io.tessera.executor.fence.hang;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.stream.ProgressEvents;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;

/**
 * Finds kernels of a client that do not end. Events among the launches of each stream show its progress; work between two of them that takes longer than the
 * timeout counts as endless, unless the stream waits for the program itself at that moment. An event is placed before and after each such wait, and, while such
 * waits are pending, also wherever a stream may wait for another one. If the work of several clients takes too long, the client whose work has been next for
 * the longest time is blamed ({@link HangAttribution}): the others may merely wait behind it, and their time starts again when it has ended. One owner thread.
 */
public final class Watchdog {
    /** Interval between events, unless events are recorded for other reasons. The work between two events is measured as a whole. */
    private static final long INTERVAL_NS = 100_000_000L;
    /**
     * Maximum number of launches between events. It exceeds the interval at which {@code ClientStreams} records events, which are enough if launches are short.
     */
    private static final int MOST_LAUNCHES = 128;
    /** The work between two events should take at most this part of the timeout, as a divisor, since a queue of long kernels is not endless. */
    private static final int PARTS = 8;
    /** With this many pending events of a stream, complete ones are searched for at once, so that a burst is recognised and needs no more events. */
    private static final int MANY_MARKS = 64;
    private static final long NO_STREAM = -1;
    private static final long SECOND_NS = 1_000_000_000L;
    /** More than the waits that a client may have pending ({@code AwaitedValues}), with the work behind them. */
    private static final int MOST_PAUSES = 8192;

    private final FenceSettings settings;
    private final TenantPresence.Member member;
    private final DriverCalls driver;
    private final Map<Long, Track> tracks = new HashMap<>();
    /** The last launch's: the next one is mostly in the same stream. */
    private long lastStream = NO_STREAM;
    private Track lastTrack;
    /** The tracks of streams that were destroyed before their work was done. */
    private final List<Track> orphans = new ArrayList<>();
    private final ProgressEvents progress;
    private final ProgressCounters words;
    private final SynchronizationGate.Client synchronization;
    /** The shorter of the times that work may take, alone or beside others; 0: it is never watched. */
    private final long soonestNs;
    /** The oldest first. */
    private final ArrayDeque<Pause> pauses = new ArrayDeque<>();
    private boolean graphsWait;
    /** Whether a stream may wait without an event that shows the end of the wait. */
    private boolean waitsUnseen;
    private long nextNs;
    private long lookedNs;
    private boolean besideOthers;
    /** When another client's late work was last seen to have ended, or when clients came or left. The client whose work has been next longest is not reset. */
    private long roundNs = Long.MIN_VALUE / 2;
    /** When the client's work may last have waited in a channel behind a waiting stream of another client. Its time starts again then. */
    private long behindNs = Long.MIN_VALUE / 2;

    /** The pending events of one stream, the oldest first. */
    private static final class Track {
        private final ArrayDeque<Mark> marks = new ArrayDeque<>();
        /** The word to which the stream writes its progress. */
        private final int word;
        /** The last place that it was told to write. */
        private long lastPlace = ProgressCounters.UNKNOWN;
        /** Launches behind the last event. */
        private int more;
        /** Number of launches that may share an event, according to the time of earlier ones. A stream counts as slow until it is known to be fast. */
        private int every = 1;
        private long lastNs;
        /** Since when the oldest event has been the next to be complete. */
        private long sinceNs;

        private Track(int word) {
            this.word = word;
        }
    }

    /** An event, its place in the stream ({@link ProgressCounters}), and the number of launches or graphs since the event before. */
    private record Mark(long event, long place, int launches) {
    }

    /** A point at which a stream may rightfully stand still: the events before and behind it. A graph may run kernels meanwhile. */
    private record Pause(Track track, long before, long behind, boolean graph) {
    }

    /** Creates an instance for one client. */
    public Watchdog(FenceSettings settings, TenantPresence.Member member, DriverCalls driver, ProgressEvents progress, ProgressCounters words,
            SynchronizationGate.Client synchronization) {
        this.words = words;
        this.synchronization = synchronization;
        this.settings = settings;
        this.member = member;
        this.driver = driver;
        this.progress = progress;
        this.soonestNs = SECOND_NS * IntStream.of(settings.timeoutS(), settings.sharedTimeoutS()).filter(seconds -> seconds != 0).min().orElse(0);
        member.turn().limit(this::timeoutNs);
        synchronization.beforeCalls(this::markAll);
    }

    /** Records places behind all work, because the client's thread may be blocked by its last launches: other threads can then see the progress. */
    private void markAll() {
        tracks.forEach((stream, track) -> {
            if (track.more > 0) {
                markLast(stream, track, lookedNs);
            }
        });
    }

    private long timeoutNs() {
        return SECOND_NS * (isBesideOthers() ? settings.sharedTimeoutS() : settings.timeoutS());
    }

    /**
     * Returns whether the work runs beside other tenants. A new tenant that still waits for unfenced work does not count: it waits for as long as that work
     * takes.
     */
    private boolean isBesideOthers() {
        return member.isShared() && !member.mustSettle();
    }

    /** Returns whether work is to be watched, now or if other clients come while it runs. */
    private boolean isWatched() {
        return soonestNs != 0;
    }

    /** Records that a kernel was launched in a stream that is not captured. */
    public void launched(long stream, long nowNs) {
        if (!isWatched()) {
            return;
        }
        lookedNs = nowNs;
        Track track = stream == lastStream ? lastTrack : track(stream);
        track.more++;
        if (track.more >= track.every || nowNs - track.lastNs >= INTERVAL_NS) {
            mark(stream, track, nowNs);
            if (track.marks.size() >= MANY_MARKS) {
                poll(track, nowNs);
            }
        }
    }

    private Track track(long stream) {
        lastStream = stream;
        lastTrack = tracks.computeIfAbsent(stream, _ -> new Track(words.take()));
        return lastTrack;
    }

    /** Records an event that was recorded for another reason behind the work of a stream. */
    public void marked(long stream, long event) {
        Track track = tracks.get(stream);
        if (track != null && track.more > 0) {
            progress.share(event);
            add(stream, track, event, lookedNs);
        }
    }

    /** Records an event that shows when everything that was launched in a stream so far is done. */
    private void mark(long stream, Track track, long nowNs) {
        track.lastNs = nowNs;
        member.turn().marking(nowNs);
        long event = progress.record(stream);
        if (event != ProgressEvents.NONE) { // otherwise the next launch tries again; an error of the context is found elsewhere
            add(stream, track, event, nowNs);
        }
        member.turn().marked();
    }

    private void add(long stream, Track track, long event, long nowNs) {
        track.lastNs = nowNs;
        long place = words.write(driver, stream, track.word);
        track.lastPlace = place == ProgressCounters.UNKNOWN ? track.lastPlace : place;
        member.turn().begun(nowNs, place);
        if (pauses.stream().noneMatch(pause -> pause.track == track)) {
            member.turn().last(track.word, place);
        }
        if (track.marks.isEmpty()) {
            track.sinceNs = nowNs;
        }
        track.marks.add(new Mark(event, place, Math.max(1, track.more)));
        track.more = 0;
    }

    private boolean isCapturing(long stream) {
        return driver.call(DriverEntry.cuStreamIsCapturing, stream, driver.out(0)) != CudaResult.SUCCESS
                || driver.outInt(0) != 0;
    }

    /** Records an event behind the last launches of a stream, after which there may be no further one. */
    private void markLast(long stream, Track track, long nowNs) {
        if (!isCapturing(stream)) {
            mark(stream, track, nowNs);
        }
    }

    /** Records that a graph was launched in a stream that is not captured; the time is that of the last look at the clock. */
    public void graphLaunched(long stream) {
        if (isWatched()) { // a graph counts like many launches, whatever is in it
            mark(stream, tracks.computeIfAbsent(stream, _ -> new Track(words.take())), lookedNs);
        }
    }

    /** Records that a stream is about to be destroyed; its submitted work is still executed. */
    public void forget(long stream) {
        Track track = tracks.remove(stream);
        lastTrack = null;
        lastStream = NO_STREAM;
        if (track == null) {
            return;
        }
        if (track.more > 0) {
            markLast(stream, track, lookedNs);
        }
        if (!isOver(track)) {
            orphans.add(track);
        }
    }

    /** Records that a graph has a node that waits for the program: from now on, any stream that runs graphs may wait for the program. */
    public void waitsInGraph() {
        graphsWait = true;
    }

    /**
     * Submits an operation at which a stream may wait.
     *
     * @param program    whether it waits for the program itself; otherwise it waits for other work, which only matters if that may wait
     * @param submission returns a CUresult
     * @return the result of the submission; NOT_READY: nothing was submitted, because the client is given up
     */
    public int pausing(long stream, boolean program, IntSupplier submission) {
        return pausing(stream, program, false, submission);
    }

    /**
     * Submits a graph, which may wait for the program or for other work, and run kernels beside that: it counts as waiting only as long as no other
     * tenant is there. Returns what {@link #pausing(long, boolean, IntSupplier)} does.
     */
    public int pausingInGraph(long stream, IntSupplier submission) {
        return pausing(stream, false, true, submission);
    }

    private int pausing(long stream, boolean program, boolean graph, IntSupplier submission) {
        forgetPauses();
        boolean mayStand = program || graphsWait;
        if (!mayStand && (!isWatched() || pauses.isEmpty())) {
            return submission.getAsInt();
        }
        if (isCapturing(stream)) {
            graphsWait |= program;
            return submission.getAsInt();
        }
        if (mayStand && !synchronization.stand()) {
            return CudaResult.NOT_READY;
        }
        long before = pauses.size() < MOST_PAUSES ? progress.record(stream) : 0;
        int result = submission.getAsInt();
        if (before != 0 && isCapturing(stream)) {
            progress.giveBack(before); // the wait joined the stream to a capture, so it does not wait on the device
            graphsWait |= program;
            forgetPauses();
            return result;
        }
        long behind = before == 0 ? 0 : progress.record(stream);
        if (behind != 0) {
            Track track = tracks.computeIfAbsent(stream, _ -> new Track(words.take()));
            member.turn().forget(track.word);
            pauses.add(new Pause(track, before, behind, graph));
        } else {
            waitsUnseen |= mayStand && result == CudaResult.SUCCESS;
            if (before != 0) {
                progress.giveBack(before);
            }
        }
        return result;
    }

    private boolean isDone(long event) {
        return progress.query(event) == CudaResult.SUCCESS;
    }

    /** Returns whether a stream may wait without an event that shows the end of the wait; only idle streams end this state. */
    public boolean waitsUnseen() {
        return waitsUnseen;
    }

    /** Returns whether a stream of the client may wait for its program now. */
    public boolean mayStand() {
        forgetPauses();
        return waitsUnseen || graphsWait || !pauses.isEmpty();
    }

    /** Records that all streams of the client are idle. */
    public void idle() {
        waitsUnseen = false;
        forgetPauses();
    }

    /** Records that all work of the client is done, and no more will come: no stream waits, whatever its events show. */
    public void nothingStands() {
        waitsUnseen = false;
        giveBackPauses();
        synchronization.over();
    }

    private void giveBackPauses() {
        pauses.forEach(pause -> {
            progress.giveBack(pause.before);
            progress.giveBack(pause.behind);
        });
        pauses.clear();
    }

    /**
     * Removes the pauses that streams of the client have passed. An event that the driver does not know is never reached.
     */
    public void forgetPauses() {
        while (!pauses.isEmpty() && progress.query(pauses.peek().behind) != CudaResult.NOT_READY) {
            Pause over = pauses.poll();
            progress.giveBack(over.before);
            progress.giveBack(over.behind);
        }
        if (pauses.isEmpty() && !waitsUnseen) {
            synchronization.over();
        }
    }

    /** Returns whether a stream waits rightfully: it has reached such a point and not passed it. */
    private boolean isPaused(Track track) {
        for (Pause pause : pauses) {
            if (pause.track == track && !isDone(pause.behind)) {
                return isDone(pause.before) && !(pause.graph && isBesideOthers());
            }
        }
        return false;
    }

    /** Returns whether kernels of this client were ordered to end while its thread was blocked in a call that waited for them. */
    public boolean isHalted() {
        return member.turn().isHalted();
    }

    /** Returns whether streams of this client that wait for its program have kept others waiting for longer than a kernel may run. */
    public boolean isWaitedForTooLong(long nowNs) {
        long timeoutNs = timeoutNs();
        return timeoutNs != 0 && synchronization.isStanding() && synchronization.keepsOthersNs(nowNs) > timeoutNs;
    }

    /** Returns whether a kernel of this client has been running for too long; looks at most ten times a second. */
    public boolean isExpired(long nowNs) {
        lookedNs = nowNs;
        if (nowNs < nextNs || tracks.isEmpty() && orphans.isEmpty()) {
            return false;
        }
        nextNs = nowNs + INTERVAL_NS;
        if (member.turn().isNewRound() || besideOthers != isBesideOthers()) {
            roundNs = nowNs;
            besideOthers = isBesideOthers();
        }
        forgetPauses();
        long sinceNs = Long.MAX_VALUE;
        long place = 0;
        for (Map.Entry<Long, Track> each : tracks.entrySet()) {
            Track track = each.getValue();
            if (track.more > 0 && nowNs - track.lastNs >= INTERVAL_NS) {
                markLast(each.getKey(), track, nowNs);
            }
            long since = poll(track, nowNs);
            place = since < sinceNs ? track.marks.peek().place : place;
            sinceNs = Math.min(sinceNs, since);
        }
        for (Track track : orphans) {
            long since = poll(track, nowNs);
            place = since < sinceNs ? track.marks.peek().place : place;
            sinceNs = Math.min(sinceNs, since);
        }
        orphans.removeIf(this::isOver);
        long timeoutNs = timeoutNs();
        if (sinceNs == Long.MAX_VALUE || timeoutNs == 0) {
            member.turn().nothing(nowNs);
            synchronization.mayWaitBehindOthers(false, nowNs);
            return false;
        }
        member.turn().since(sinceNs, place, nowNs);
        long measuredNs = Math.max(sinceNs, Math.max(roundNs, member.turn().behindNs()));
        if (synchronization.mayWaitBehindOthers(nowNs - measuredNs > timeoutNs / 2, nowNs)) {
            behindNs = nowNs;
            return false;
        }
        return nowNs - Math.max(measuredNs, behindNs) > timeoutNs && member.turn().isFirst();
    }

    /** Returns since when a stream's oldest unfinished work has been next; Long.MAX_VALUE: all of it is done. */
    private long poll(Track track, long nowNs) {
        long launches = 0;
        while (!track.marks.isEmpty() && isDone(track.marks.peek().event)) {
            Mark done = track.marks.poll();
            progress.giveBack(done.event);
            launches += done.launches;
        }
        if (launches > 0) {
            track.every = every(track, launches, nowNs - track.sinceNs);
            track.sinceNs = nowNs;
        }
        if (!track.marks.isEmpty() && isPaused(track)) {
            track.sinceNs = nowNs;
            return Long.MAX_VALUE;
        }
        return track.marks.isEmpty() ? Long.MAX_VALUE : track.sinceNs;
    }

    /** Returns how many launches may share an event from now on: at most twice as many as before; a lower number applies at once. */
    private int every(Track track, long launches, long tookNs) {
        long share = soonestNs / PARTS * launches / Math.max(1, tookNs);
        return (int) Math.clamp(share, 1, Math.min(MOST_LAUNCHES, 2L * track.every));
    }

    /** Returns whether the stream of a track, which gets no more work, is done; its word is then given back. */
    private boolean isOver(Track track) {
        boolean is = track.marks.isEmpty() && (track.lastPlace == ProgressCounters.UNKNOWN || !words.isAhead(track.lastPlace));
        if (is) {
            giveBackWord(track);
        }
        return is;
    }

    private void giveBack(Track track) {
        track.marks.forEach(mark -> progress.giveBack(mark.event));
        giveBackWord(track);
    }

    private void giveBackWord(Track track) {
        member.turn().forget(track.word);
        words.giveBack(track.word);
    }

    /** Records that the work that took too long has ended: the others' time starts again. */
    public void ended() {
        member.turn().ended();
    }

    /** Gives its events back, when all work is done. */
    public void close() {
        tracks.values().forEach(this::giveBack);
        orphans.forEach(this::giveBack);
        giveBackPauses();
        tracks.clear();
        orphans.clear();
    }
}
