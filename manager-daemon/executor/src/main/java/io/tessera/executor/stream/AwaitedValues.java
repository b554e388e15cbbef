package io.tessera.executor.stream;

import io.tessera.device.CudaEnums.StreamFlag;
import io.tessera.device.CudaEnums.WaitValueFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The values for which a client's streams wait. After the client has left, its program no longer writes them, and a stream that waits cannot be ended. Then
 * they are written here, so that no client occupies the device by a wait that never ends. One owner thread.
 *
 * <p>Several waits for different values of one word end only if each value stays until the device has read it, and whether it has cannot be queried. So the
 * values are written in the order in which their waits were submitted, which is the order in which streams reach them, and each value stays for a while. The
 * device's time to read it depends on its other work, so the delay is another power of two in each round, most often a short one.
 */
public final class AwaitedValues {
    /** Maximum number of waits since the client's streams were last seen idle: these can be ended in far less time than a client's end takes. */
    private static final int MOST = 4096;
    private static final int CONDITION = 3;
    /** More than the number of a driver's channels (CUDA_DEVICE_MAX_CONNECTIONS is 32 at most). */
    private static final int STREAMS = 48;
    /** Maximum number of writes at once: far fewer than a driver accepts before it blocks its caller. */
    private static final int WRITES = 256;
    /** No device has a higher priority; a driver takes the highest that it has. */
    private static final long HIGHEST = -100;
    private static final long NARROW = 0xffff_ffffL;
    /** Minimum time for which a value stays; the maximum is {@code 1 << LONGEST} times as long. */
    private static final long SHORTEST_NS = 50_000;
    private static final int LONGEST = 9;

    /** In the order of submission. */
    private final List<Value> values = new ArrayList<>();
    /** The values of graphs' nodes, which may be launched at any time. */
    private final Set<Value> inGraphs = new LinkedHashSet<>();
    private int outstanding;
    private final List<Long> streams = new ArrayList<>();
    private int turn;
    private int next;
    private int round = 1;
    private long writtenNs;

    /**
     * A write that ends a wait.
     *
     * @param address address of the write
     * @param wide    whether the value has 64 bits
     * @param value   the value that is written
     */
    private record Value(long address, boolean wide, long value) {
        /** Adds its halves to the words that are written at once; returns false if another value is already to be written there. */
        boolean fits(Map<Long, Long> written) {
            Long low = written.putIfAbsent(address, value & NARROW);
            Long high = wide ? written.putIfAbsent(address + Integer.BYTES, value >>> 32) : null;
            return (low == null || low == (value & NARROW)) && (high == null || high == value >>> 32);
        }
    }

    /** Creates an empty set of values. */
    AwaitedValues() {
    }

    /**
     * Records that a stream will wait, or a graph whenever it is launched.
     *
     * @param flags   {@code CUstreamWaitValue_flags}
     * @param inGraph whether the wait is a node of a graph
     * @return why the wait is refused, and what to do; null: it is not
     */
    String add(long address, boolean wide, long value, int flags, boolean inGraph) {
        long all = wide ? -1 : NARROW;
        int condition = flags & CONDITION;
        boolean never = condition == WaitValueFlag.AND && (value & all) == 0 || condition == WaitValueFlag.NOR && (value & all) == all;
        Value ends = new Value(address, wide, condition == WaitValueFlag.AND ? all : condition == WaitValueFlag.NOR ? 0 : value & all);
        if (never) {
            return "a stream is to wait for a value that nothing makes true, so nobody could end the wait; wait for another value (cuStreamWaitValue32 and 64)";
        }
        if (inGraph && inGraphs.size() >= MOST && !inGraphs.contains(ends)) {
            return "graphs of a program may wait for " + MOST + " values in memory; destroy graphs that are not needed any more";
        }
        if (inGraph) {
            inGraphs.add(ends);
            return null;
        }
        if (outstanding >= MOST) {
            return "streams of a program may wait for " + MOST + " values in memory at a time; synchronise before more waits are added";
        }
        outstanding++;
        if (values.isEmpty() || !values.getLast().equals(ends)) {
            values.add(ends);
        }
        return null;
    }

    /** Returns whether enough waits are pending to make it worth asking whether the streams are idle. */
    boolean isFull() {
        return outstanding >= MOST;
    }

    /** Records that the streams are idle, so that none of them waits any more. */
    void idle() {
        outstanding = 0;
        values.clear();
    }

    /** Returns whether no stream or graph may wait. */
    public boolean isEmpty() {
        return values.isEmpty() && inGraphs.isEmpty();
    }

    /**
     * Writes the next values if the last ones were there for long enough. Called repeatedly while streams still wait, because one wait may follow another. A
     * driver has fewer channels than streams, so it may queue a stream of the executor behind the very wait that its write would end. So streams of kinds that
     * the driver places differently are used in turn, and a stream that has not done its last writes gets no more.
     */
    public void release(DriverCalls driver, long nowNs) {
        long leaveNs = SHORTEST_NS << Math.min(LONGEST, Integer.numberOfTrailingZeros(round));
        if (isEmpty() || writtenNs != 0 && nowNs - writtenNs < leaveNs) {
            return;
        }
        long stream = idleStream(driver);
        if (stream == 0) {
            return;
        }
        List<Value> all = new ArrayList<>(values);
        all.addAll(inGraphs);
        Map<Long, Long> written = new HashMap<>();
        int end = Math.min(all.size(), next + WRITES);
        while (next < end && all.get(next).fits(written)) {
            write(driver, stream, all.get(next));
            next++;
        }
        if (next == all.size()) {
            next = 0;
            round++;
        }
        writtenNs = nowNs;
    }

    /** Returns a stream that has done its last writes; 0: there is none yet. */
    private long idleStream(DriverCalls driver) {
        for (int tried = 0; tried < streams.size(); tried++) {
            long stream = streams.get(turn++ % streams.size());
            if (isIdle(driver, stream)) {
                return stream;
            }
        }
        if (streams.size() >= STREAMS || driver.callAtOnce(DriverEntry.cuStreamCreateWithPriority, driver.out(0), StreamFlag.NON_BLOCKING,
                streams.size() % 2 == 0 ? HIGHEST : 0) != CudaResult.SUCCESS) {
            return 0;
        }
        streams.add(driver.outLong(0));
        return streams.getLast();
    }

    private static boolean isIdle(DriverCalls driver, long stream) {
        return driver.call(DriverEntry.cuStreamQuery, stream) != CudaResult.NOT_READY;
    }

    private static void write(DriverCalls driver, long stream, Value value) {
        driver.call(value.wide ? DriverEntry.cuStreamWriteValue64_v2 : DriverEntry.cuStreamWriteValue32_v2, stream,
                value.address, value.value, 0);
    }

    /** Returns the streams to the driver; no stream waits any more. */
    public void close(DriverCalls driver) {
        for (long stream : streams) {
            driver.call(DriverEntry.cuStreamSynchronize, stream); // its writes do not wait, and their memory is freed next
            driver.call(DriverEntry.cuStreamDestroy_v2, stream);
        }
        streams.clear();
        values.clear();
        inGraphs.clear();
    }
}
