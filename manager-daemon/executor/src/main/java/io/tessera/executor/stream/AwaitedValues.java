package io.tessera.executor.stream;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The values that a client's streams wait for. When the client is gone nobody writes them any more, and a stream that
 * waits cannot be ended: then they are written here, so that no client keeps the device by a wait that nobody ends. One
 * owner thread.
 */
public final class AwaitedValues {
    /** Waits since the client's streams were last seen idle: as many as can be ended in far less than a client's end takes. */
    private static final int MOST = 4096;
    private static final int CONDITION = 3;
    private static final int AND = 2;
    private static final int NOR = 3;
    private static final long NON_BLOCKING = 1;
    private static final long NARROW = 0xffff_ffffL;

    private final Set<Value> values = new LinkedHashSet<>();
    /** Of nodes of graphs, which may be launched at any time. */
    private final Set<Value> inGraphs = new LinkedHashSet<>();
    private int outstanding;
    private long stream;

    /**
     * What ends a wait.
     *
     * @param address where
     * @param wide    whether 64 bits
     * @param value   what is written there
     */
    private record Value(long address, boolean wide, long value) {
    }

    /** Nothing is waited for. */
    AwaitedValues() {
    }

    /**
     * A stream will wait, or a graph whenever it is launched.
     *
     * @param flags   {@code CUstreamWaitValue_flags}
     * @param inGraph whether it is a node's
     * @return false if no value ends this wait, or there are too many: the wait is then refused
     */
    boolean add(long address, boolean wide, long value, int flags, boolean inGraph) {
        long all = wide ? -1 : NARROW;
        int condition = flags & CONDITION;
        boolean never = condition == AND && (value & all) == 0 || condition == NOR && (value & all) == all;
        Value ends = new Value(address, wide, condition == AND ? all : condition == NOR ? 0 : value & all);
        if (never || inGraph && inGraphs.size() >= MOST && !inGraphs.contains(ends)) {
            return false;
        }
        if (inGraph) {
            inGraphs.add(ends);
            return true;
        }
        if (outstanding >= MOST) {
            return false;
        }
        outstanding++;
        values.add(ends);
        return true;
    }

    /** Whether so much is waited for that it is worth asking whether the streams are idle. */
    boolean isFull() {
        return outstanding >= MOST;
    }

    /** The streams are idle, so none of them waits any more. */
    void idle() {
        outstanding = 0;
        values.clear();
    }

    /** Whether anybody may wait. */
    public boolean isEmpty() {
        return values.isEmpty() && inGraphs.isEmpty();
    }

    /** Writes what is waited for, once each; called again and again while streams still wait, because waits follow waits. */
    public void release(DriverCalls driver) {
        if (stream == 0 && !isEmpty()
                && driver.call(DriverEntry.cuStreamCreate, driver.out(0), NON_BLOCKING) == CudaResult.SUCCESS) {
            stream = driver.outLong(0);
        }
        values.forEach(value -> write(driver, value));
        inGraphs.forEach(value -> write(driver, value));
    }

    private void write(DriverCalls driver, Value value) {
        driver.call(value.wide ? DriverEntry.cuStreamWriteValue64_v2 : DriverEntry.cuStreamWriteValue32_v2, stream,
                value.address, value.value, 0);
    }

    /** Nobody waits any more: gives the stream back. */
    public void close(DriverCalls driver) {
        if (stream != 0) {
            driver.call(DriverEntry.cuStreamSynchronize, stream); // its writes wait for nobody, and their memory goes next
            driver.call(DriverEntry.cuStreamDestroy_v2, stream);
            stream = 0;
        }
        values.clear();
        inGraphs.clear();
    }
}
