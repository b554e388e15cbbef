package io.tessera.executor.stream;

import io.tessera.device.CudaEnums.EventFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * A pool of events that show the progress of a client's streams. An event costs the device more than a launch, so users of the same point
 * of a stream share one, which is used again when all have given it back. One owner thread.
 */
public final class ProgressEvents {
    /** No event is available. */
    public static final long NONE = 0;

    private final DriverCalls driver;
    private final ArrayDeque<Long> spare = new ArrayDeque<>();
    /** By event that several users hold: the number of users beyond the first. */
    private final Map<Long, Integer> sharers = new HashMap<>();

    /** Creates an instance without events. */
    public ProgressEvents(DriverCalls driver) {
        this.driver = driver;
    }

    /** Records an event that is complete when a stream, which is not captured, has reached this point; the caller holds it. */
    public long record(long stream) {
        Long event = spare.poll();
        if (event == null) {
            if (driver.call(DriverEntry.cuEventCreate, driver.out(0), EventFlag.DISABLE_TIMING) != CudaResult.SUCCESS) {
                return NONE;
            }
            event = driver.outLong(0);
        }
        if (driver.call(DriverEntry.cuEventRecord, event, stream) != CudaResult.SUCCESS) {
            spare.add(event);
            return NONE;
        }
        return event;
    }

    /** Queries whether an event is complete. Returns a CUresult. */
    public int query(long event) {
        return driver.call(DriverEntry.cuEventQuery, event);
    }

    /** Adds one holder of the event. */
    public void share(long event) {
        sharers.merge(event, 1, Integer::sum);
    }

    /** Removes one holder of the event. */
    public void giveBack(long event) {
        Integer others = sharers.remove(event);
        if (others == null) {
            spare.add(event);
        } else if (others > 1) {
            sharers.put(event, others - 1);
        }
    }

    /** Destroys all events. All were given back, and no work is left. */
    void close() {
        spare.forEach(event -> driver.call(DriverEntry.cuEventDestroy_v2, event));
        spare.clear();
    }
}
