package io.tessera.executor.launch;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientKernels;
import io.tessera.executor.fence.LaunchPlan;
import io.tessera.executor.fence.Launchable;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.part.ProcessorParts;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.ProgressEvents;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Launches long grids in parts. Two parts are on the device at a time, in two streams, so that one fills the processors that the other leaves idle. Between
 * parts others can use the device: turns end, modules are loaded, memory is moved. The next record waits until all parts are launched.
 *
 * <pre>
 *   none ──> (code is made) ──> running ──all launched──> launched ──record is taken──> none
 *     └──────────────┴── whole: the kernel has no code for parts, or the grid is too short
 * </pre>
 *
 * <p>The time of a block is learned from the parts. A kernel that was never seen to take long is launched as a whole, and its first launches are timed ({@link
 * GridTimer}). A launch waits for the code for its parts only if its grid has very many blocks of unknown duration, or takes longer than a second. One owner
 * thread.
 */
final class GridSlicing {
    /** A grid of fewer blocks is launched as a whole. */
    static final long LEAST_BLOCKS = 1024;
    /**
     * At its kernel's first launch, a grid of this many blocks waits for code for its parts: some thousand waves of a large GPU.
     */
    static final long HUGE_BLOCKS = 1L << 24;
    /**
     * Grids that take longer are launched in parts, even while the client is alone: a new client then waits for at most one part. Shorter grids are not,
     * because code for parts has fewer proofs, and therefore more fences.
     */
    static final long LONG_NS = 20_000_000L;
    private static final long LONG_ALONE_NS = 1_000_000_000L;
    /** Time for which a launch waits for code for parts. */
    private static final long PATIENCE_NS = 5_000_000_000L;
    /**
     * Time without a finished part after which the rest is launched as a whole, because the parts may wait for a later record. It is shorter if a stream may
     * wait for its program.
     */
    private static final long UNMOVED_NS = 2_000_000_000L;
    private static final long STANDING_NS = 100_000_000L;
    /** Number of parts within the bound of a stream's queued work. */
    private static final int PARTS_IN_BOUND = 8;
    private static final long LEAST_PART_NS = 500_000L;
    /**
     * The first parts of a kernel have {@code FIRST_WAVES} times as many blocks as the device runs at once. That number counts as at least
     * {@code FIRST_BLOCKS}, even where it is unknown.
     */
    private static final int FIRST_WAVES = 2;
    private static final int FIRST_BLOCKS = 64;
    private static final int LANES = 2;
    /** A part has at most this many times as many blocks as the largest one before it. */
    private static final int GROWTH = 16;
    /** Maximum size of a part in y and in z: a driver refuses a larger grid. */
    private static final int MOST_ROWS = 65_535;
    private static final Logger LOG = LoggerFactory.getLogger(GridSlicing.class);

    /** Launches a part. */
    @FunctionalInterface
    interface Submitter {
        /** Returns the driver's CUresult. */
        int submit(GridParts part, ClientStream stream) throws ProgramRefusedException;
    }

    private enum State {
        NONE, MAKING, RUNNING, LAUNCHED, WHOLE
    }

    private final ClientStreams streams;
    private final ClientKernels kernels;
    private final ProcessorParts processors;
    private final NanoClock clock;
    private final GridTimer timer;
    private final PresentedLaunch presented;
    private final GridParts parts = new GridParts();
    private final ClientStream[] lanes = new ClientStream[LANES];
    private final long[] events = new long[LANES];
    private final long[] blocks = new long[LANES];
    private int lane;
    private State state = State.NONE;
    private Launchable kernel;
    private ClientStream stream;
    private long sinceNs;
    /** Blocks of a part while the time of a block is unknown. */
    private long firstBlocks;
    private final PartRate rate = new PartRate();
    /** The blocks of the largest part so far. */
    private long mostBlocks;
    /** When a part was last found to be done, or when the first one was launched. */
    private long movedNs;

    /** @param record memory for a record, which only this object uses */
    GridSlicing(ClientStreams streams, ClientKernels kernels, DriverCalls driver, NanoClock clock, MemorySegment record) {
        this.streams = streams;
        this.timer = new GridTimer(driver);
        this.kernels = kernels;
        this.processors = streams.parts().processors();
        this.clock = clock;
        this.presented = new PresentedLaunch(record);
    }

    /** Returns whether a launch may come in parts at all. */
    static boolean isLarge(LaunchPlan launch) {
        long all = launch.blocks();
        return all >= LEAST_BLOCKS && all != Long.MAX_VALUE && launch.attributes() == 0 && !launch.isCooperative()
                && Integer.compareUnsigned(launch.grid(1), MOST_ROWS) <= 0 && Integer.compareUnsigned(launch.grid(2), MOST_ROWS) <= 0;
    }

    /**
     * Handles a launch at the head of the ring: launches as many parts as may be launched now.
     *
     * @param launch     a launch that {@link #isLarge}, of a whole record
     * @param recordSize length of the record
     * @param target     its stream; null if there is none
     * @return whether the record has to be presented again
     */
    boolean comesAgain(LaunchPlan launch, int recordSize, ClientStream target, Submitter submitter) {
        if (state != State.NONE && !presented.isSame(launch.record(), recordSize)) {
            leave(); // the program has changed the record, which is now another launch
        }
        if (state == State.NONE) {
            begin(launch, recordSize, target);
        }
        if (state == State.MAKING) {
            make(launch);
        }
        if (state == State.RUNNING) {
            run(submitter);
        }
        return isOpen();
    }

    /** Records that another record was taken. The program has replaced the launch that was in progress, whose objects may end now. */
    void other() {
        if (isOpen()) {
            leave();
        }
    }

    /** Returns whether parts of a launch are still to come. */
    boolean isOpen() {
        return state == State.MAKING || state == State.RUNNING;
    }

    /** Returns whether all parts of the launch at the head of the ring are launched: its record can be taken. */
    boolean isLaunched() {
        return state == State.LAUNCHED;
    }

    /** Records that a kernel is about to be launched as a whole, in a stream that is not captured. */
    void launches(LaunchPlan launch, Launchable whole, ClientStream into) {
        if (kernels.comeInParts() && isLarge(launch) && kernels.mayComeInParts(whole)) {
            timer.before(whole, launch, into.value());
        }
    }

    /** Records that a kernel was launched as a whole, with a CUresult: if it may take long, code for parts is made. */
    void launched(LaunchPlan launch, Launchable whole, int launchResult, ClientStream into) {
        timer.behind(whole, launchResult, into.value());
        if (kernels.comeInParts() && into.longestNs() >= LONG_NS && isLarge(launch) && kernels.mayComeInParts(whole)) {
            whole.slow(launch.blocks(), into.longestNs());
            kernels.partOf(whole);
        }
    }

    /**
     * Ends the launch whose record is taken now.
     *
     * @return whether it was launched in parts; {@link #result} has its result
     */
    boolean taken(MemorySegment taken, int recordSize) {
        boolean launched = state == State.LAUNCHED && presented.isSame(taken, recordSize);
        if (state != State.NONE) {
            leave();
        }
        return launched;
    }

    /**
     * Returns the CUresult of the last launch in parts.
     *
     * @throws ProgramRefusedException if a part was refused
     */
    int result() throws ProgramRefusedException {
        return presented.result();
    }

    private void begin(LaunchPlan launch, int recordSize, ClientStream target) {
        Launchable found = target == null || streams.isCapturing(target) ? null : known(launch);
        if (found == null) {
            return;
        }
        timer.look();
        boolean huge = launch.blocks() >= HUGE_BLOCKS && found.isUnmeasured();
        long expectedNs = found.expectedNs(launch.blocks());
        if (expectedNs < (streams.boundNs() >= ClientStreams.ALONE_NS ? LONG_ALONE_NS : LONG_NS) && !huge) {
            return;
        }
        long function = kernels.partOf(found);
        if (function < 0) {
            asAWhole(launch, found, "it has no code for parts");
        }
        if (function < 0 || function == 0 && !huge && expectedNs < LONG_ALONE_NS) {
            return;
        }
        kernel = found;
        stream = target;
        presented.begin(launch.record(), recordSize);
        sinceNs = clock.nanoTime();
        state = State.MAKING;
    }

    /** Logs once for each kernel that it is launched as a whole: a program may launch it a thousand times a second. */
    private static void asAWhole(LaunchPlan launch, Launchable whole, String why) {
        if (whole.toSay()) {
            LOG.info("a grid of {} blocks of kernel {} is launched as a whole: {}", launch.blocks(), whole.name(), why);
        }
    }

    private Launchable known(LaunchPlan launch) {
        try {
            Launchable found = kernels.launchable(launch.function());
            boolean may = found != null && kernels.mayComeInParts(found);
            if (found != null && !may && launch.blocks() >= HUGE_BLOCKS) {
                asAWhole(launch, found, "it has no PTX, or its blocks may wait for each other");
            }
            return may ? found : null;
        } catch (ProgramRefusedException e) {
            return null; // the user learns of it when the record is taken
        }
    }

    private void make(LaunchPlan launch) {
        long function = kernels.partOf(kernel);
        int held = function <= 0 ? 0 : kernels.blocksPerProcessor(kernel, function, launch.threads(), launch.sharedBytes());
        boolean fits = function > 0 && held > 0; // code for parts may have more registers than the kernel, so that a block of this size does not fit
        if (function < 0 || function > 0 && !fits || function == 0 && (clock.nanoTime() - sinceNs > PATIENCE_NS || streams.mayStand())) {
            state = State.WHOLE;
            asAWhole(launch, kernel, function < 0 ? "it has no code for parts"
                    : function == 0 ? "its code for parts is not there" : "a processor holds no block of its code for parts");
        } else if (fits) {
            parts.begin(Integer.toUnsignedLong(launch.grid(0)), Integer.toUnsignedLong(launch.grid(1)), Integer.toUnsignedLong(launch.grid(2)));
            lanes[0] = stream;
            lanes[1] = streams.beside(stream); // before the first part, so that the second stream does not wait for that part
            firstBlocks = FIRST_WAVES * Math.max(FIRST_BLOCKS, (long) processors.processors(ProcessorParts.WHOLE) * held);
            lane = 0;
            movedNs = clock.nanoTime();
            rate.begin(streams.query(stream) == CudaResult.SUCCESS ? movedNs : 0); // only in an idle stream is the first part's begin known
            mostBlocks = firstBlocks;
            presented.succeeds();
            state = State.RUNNING;
        }
    }

    private void run(Submitter submitter) {
        long nowNs = clock.nanoTime();
        for (int i = 0; i < LANES; i++) {
            look(i, nowNs);
        }
        boolean stuck = isStuck();
        while (parts.left() > 0 && presented.isGood() && (stuck || events[lane] == ProgressEvents.NONE)) {
            giveBack(lane);
            launch(submitter, stuck ? parts.left() : partBlocks());
            lane = lanes[1] == null ? 0 : (lane + 1) % LANES;
        }
        if (parts.left() == 0 || !presented.isGood()) {
            state = isJoined() ? State.LAUNCHED : State.RUNNING;
        }
    }

    private boolean isStuck() {
        long unmovedNs = clock.nanoTime() - movedNs;
        return unmovedNs > UNMOVED_NS || unmovedNs > STANDING_NS && streams.mayStand();
    }

    private void launch(Submitter submitter, long most) {
        ClientStream into = lanes[lane];
        try {
            long count = parts.next(most);
            int result = submitter.submit(parts, into);
            presented.ends(result);
            blocks[lane] = count;
            mostBlocks = Math.max(mostBlocks, count);
            events[lane] = result == CudaResult.SUCCESS ? streams.progress().record(into.value()) : ProgressEvents.NONE;
        } catch (ProgramRefusedException e) {
            presented.refused(e);
        }
    }

    /** Returns the blocks of the next part, by time; all remaining ones if they are not many more. */
    private long partBlocks() {
        long boundNs = streams.boundNs();
        long partNs = Math.max(LEAST_PART_NS, boundNs / PARTS_IN_BOUND);
        long leftNs = kernel.gridNs(parts.left());
        if (leftNs == 0) {
            return firstBlocks;
        }
        long byTime = leftNs <= 2 * partNs ? parts.left() : Math.max(1, (long) ((double) parts.left() * partNs / leftNs));
        return Math.min(byTime, GROWTH * mostBlocks); // bounds the effect of a time that was measured too short to one part
    }

    private void look(int i, long nowNs) {
        if (events[i] == ProgressEvents.NONE || streams.progress().query(events[i]) == CudaResult.NOT_READY) {
            return;
        }
        giveBack(i);
        movedNs = nowNs;
        if (rate.done(blocks[i], nowNs)) { // one rate for both streams, which run at the same time
            kernel.took(rate.blockNs());
        }
    }

    private void giveBack(int i) {
        if (events[i] != ProgressEvents.NONE) {
            streams.progress().giveBack(events[i]);
            events[i] = ProgressEvents.NONE;
        }
    }

    /** Returns whether later work of the kernel's stream is ordered behind all parts. Without an event for that, the parts in the other stream are awaited. */
    private boolean isJoined() {
        boolean joined = lanes[1] == null || streams.order(lanes[1], stream) || streams.query(lanes[1]) != CudaResult.NOT_READY;
        streams.after(stream);
        return joined;
    }

    /** Ends slicing: nothing more is launched, and all launched parts are done. */
    void close() {
        timer.close();
        giveBack();
    }

    private void leave() {
        if (state == State.RUNNING) {
            isJoined();
        }
        giveBack();
        stream = null;
        kernel = null;
        state = State.NONE;
    }

    private void giveBack() {
        for (int i = 0; i < LANES; i++) {
            giveBack(i);
            lanes[i] = null;
        }
    }
}
