package io.tessera.executor.pool;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import java.util.ArrayDeque;

/** Events that tell when a stream has come to a place, used again and again. One owner thread. */
final class EventStock {
    private static final long DISABLE_TIMING = 2;
    /** No event could be made. */
    static final long NONE = 0;

    private final DriverCalls driver;
    private final ArrayDeque<Long> idle = new ArrayDeque<>();

    EventStock(DriverCalls driver) {
        this.driver = driver;
    }

    /** An event behind everything that a stream has been given so far; {@link #NONE} if there is none to be had. */
    long behind(long stream) {
        Long event = idle.poll();
        if (event == null) {
            if (driver.call(DriverEntry.cuEventCreate, driver.out(0), DISABLE_TIMING) != CudaResult.SUCCESS) {
                return NONE;
            }
            event = driver.outLong(0);
        }
        if (driver.call(DriverEntry.cuEventRecord, event, stream) != CudaResult.SUCCESS) {
            idle.add(event);
            return NONE;
        }
        return event;
    }

    /** CUresult of asking whether an event is complete. */
    int query(long event) {
        return driver.call(DriverEntry.cuEventQuery, event);
    }

    /** The event is not needed any more. */
    void giveBack(long event) {
        idle.add(event);
    }

    /** Ends all events that are not in use. */
    void close() {
        idle.forEach(event -> driver.call(DriverEntry.cuEventDestroy_v2, event));
        idle.clear();
    }
}
