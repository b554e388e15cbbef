package io.tessera.memory.residency.simulated;

import java.util.Arrays;
import java.util.Random;

/**
 * One client's memory under plan swap, in chunks with contents: it follows the budget rule and moves what it is told to. Contents are numbers; the
 * last written value has to be found after every move.
 */
final class SwapMemory {
    /** Number of copies in one direction at once: one on the bus, and the next one waiting. */
    private static final int DEPTH = 2;

    /** Times to unmap and release 64 MiB, and to map it and make it accessible (h200-measurements.md, scaled). */
    private static final long RELEASE_NS = 30_000;
    private static final long MAP_NS = 40_000;
    private static final long RETRY_NS = 10_000_000;
    private static final int MAX_CHUNKS = 1 << 12;

    private enum State {
        FREE, UNBACKED, RESIDENT, LEAVING, COMING, OUT
    }

    private final Cluster cluster;
    private final Random random;
    private final long chunkBytes;
    private final State[] states = new State[MAX_CHUNKS];
    private final long[] device = new long[MAX_CHUNKS];
    private final long[] host = new long[MAX_CHUNKS];
    private final long[] written = new long[MAX_CHUNKS];
    private final int[] counts = new int[State.values().length];
    private int top;
    private int cached;
    private boolean retrying;
    private boolean dead;

    /** Allocations that wait for memory. */
    private int pending;

    // Words
    private long heldBytes;
    private long targetBytes;
    private boolean quiet = true;

    /** Whether the gate shall open as soon as everything is resident. */
    private boolean called;

    SwapMemory(Cluster cluster, Random random) {
        this.cluster = cluster;
        this.random = random;
        this.chunkBytes = cluster.settings().chunkBytes();
        Arrays.fill(states, State.FREE);
    }

    // Words

    long heldBytes() {
        return heldBytes;
    }

    long targetBytes() {
        return targetBytes;
    }

    void targetBytes(long bytes) {
        targetBytes = bytes;
    }

    long cachedBytes() {
        return cached * chunkBytes;
    }

    long neededBytes() {
        return live() * chunkBytes;
    }

    long wantedBytes() {
        return pending == 0 ? 0 : (live() + pending) * chunkBytes;
    }

    private int live() {
        int live = 0;
        for (State state : State.values()) {
            live += state == State.FREE ? 0 : counts[state.ordinal()];
        }
        return live;
    }

    private int count(State state) {
        return counts[state.ordinal()];
    }

    private void become(int chunk, State state) {
        if (states[chunk] != State.FREE) {
            counts[states[chunk].ordinal()]--;
        }
        states[chunk] = state;
        if (state != State.FREE) {
            counts[state.ordinal()]++;
            top = Math.max(top, chunk + 1);
        }
    }

    boolean allocationWaits() {
        return pending > 0;
    }

    // What the gate tells

    void quiet(boolean nothingRuns) {
        quiet = nothingRuns;
    }

    void called(boolean toRun) {
        called = toRun;
        if (!toRun) {
            // An allocation while the gate is closed only reserves addresses.
            for (; pending > 0; pending--) {
                become(freeChunk(), State.UNBACKED);
            }
        }
    }

    boolean complete() {
        return count(State.RESIDENT) == live() && pending == 0;
    }

    /** Ends the process, and with it its memory; its words stay as they were until the manager notices. */
    void die() {
        dead = true;
    }

    /** Returns what the device really has in use. */
    long usedBytes() {
        return dead ? 0 : heldBytes;
    }

    // What the program does

    void allocate(int chunks) {
        pending += chunks;
        if (!called) {
            called(false);
        }
        pump();
    }

    void free(int chunks) {
        int left = chunks;
        for (int chunk = top - 1; chunk >= 0 && left > 0; chunk--) {
            if (states[chunk] == State.RESIDENT || states[chunk] == State.OUT || states[chunk] == State.UNBACKED) {
                cached += states[chunk] == State.RESIDENT ? 1 : 0;
                become(chunk, State.FREE);
                left--;
            }
        }
        pump();
    }

    /** Runs a kernel of the program, which reads all and writes some. */
    void use() {
        check();
        for (int i = 0; i < 8 && top > 0; i++) {
            int chunk = random.nextInt(top);
            if (states[chunk] == State.RESIDENT) {
                device[chunk] = ++written[chunk];
            }
        }
    }

    /** Checks that everything is resident and holds what was written last. */
    void check() {
        for (int chunk = 0; chunk < top; chunk++) {
            if (states[chunk] == State.FREE) {
                continue;
            }
            if (states[chunk] != State.RESIDENT || device[chunk] != written[chunk]) {
                throw new AssertionError("chunk " + chunk + " is " + states[chunk] + " and holds " + device[chunk]
                        + " in place of " + written[chunk] + ", seed " + cluster.settings().seed());
            }
        }
    }

    // Moving

    /** Does whatever words and copies allow now. */
    void pump() {
        if (dead) {
            return;
        }
        while (heldBytes > targetBytes && cached > 0) {
            cached--;
            release();
        }
        while (quiet && !retrying && heldBytes - count(State.LEAVING) * chunkBytes > targetBytes
                && count(State.LEAVING) < DEPTH && count(State.RESIDENT) > 0) {
            startOut(last(State.RESIDENT));
        }
        if (heldBytes <= targetBytes && (called || quiet)) {
            fill();
        }
    }

    private void fill() {
        for (; pending > 0 && take(); pending--) {
            create(freeChunk());
        }
        while (count(State.UNBACKED) > 0 && take()) {
            create(first(State.UNBACKED));
        }
        while (count(State.OUT) > 0 && !retrying && count(State.COMING) < DEPTH && take()) {
            startIn(first(State.OUT));
        }
    }

    /** Increases what is held by a chunk if the target allows it, or uses a cached one. */
    private boolean take() {
        if (cached > 0) {
            cached--;
            return true;
        }
        if (heldBytes + chunkBytes > targetBytes) {
            return false;
        }
        heldBytes += chunkBytes;
        cluster.checkCapacity();
        return true;
    }

    private void release() {
        heldBytes -= chunkBytes;
        cluster.ring();
    }

    private void create(int chunk) {
        become(chunk, State.RESIDENT);
        device[chunk] = written[chunk] = random.nextInt();
    }

    private void startOut(int chunk) {
        become(chunk, State.LEAVING);
        cluster.bus().copyOut(chunkBytes, () -> {
            if (dead) {
                return;
            }
            if (fails()) {
                become(chunk, State.RESIDENT);
                retryLater();
                cluster.progressed(this);
                return;
            }
            host[chunk] = device[chunk];
            device[chunk] = Long.MIN_VALUE;
            cluster.queue().after(RELEASE_NS, () -> {
                if (!dead) {
                    become(chunk, State.OUT);
                    release();
                    cluster.progressed(this);
                }
            });
        });
    }

    private void startIn(int chunk) {
        become(chunk, State.COMING);
        cluster.queue().after(MAP_NS, () -> cluster.bus().copyIn(chunkBytes, () -> {
            if (dead) {
                return;
            }
            if (fails()) {
                become(chunk, State.OUT);
                release();
                retryLater();
            } else {
                device[chunk] = host[chunk];
                host[chunk] = Long.MIN_VALUE;
                become(chunk, State.RESIDENT);
            }
            cluster.progressed(this);
        }));
    }

    private boolean fails() {
        return random.nextDouble() < cluster.settings().failureShare();
    }

    private void retryLater() {
        retrying = true;
        cluster.queue().after(RETRY_NS, () -> {
            retrying = false;
            pump();
        });
    }

    private int first(State state) {
        for (int chunk = 0; chunk < top; chunk++) {
            if (states[chunk] == state) {
                return chunk;
            }
        }
        throw new AssertionError("no chunk is " + state);
    }

    private int last(State state) {
        for (int chunk = top - 1; chunk >= 0; chunk--) {
            if (states[chunk] == state) {
                return chunk;
            }
        }
        throw new AssertionError("no chunk is " + state);
    }

    private int freeChunk() {
        for (int chunk = 0; chunk < MAX_CHUNKS; chunk++) {
            if (states[chunk] == State.FREE) {
                return chunk;
            }
        }
        throw new AssertionError("more chunks than are simulated");
    }
}
