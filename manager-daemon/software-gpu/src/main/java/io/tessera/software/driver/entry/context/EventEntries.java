package io.tessera.software.driver.entry.context;

import io.tessera.device.CudaEnums.EventFlag;
import io.tessera.device.CudaEnums.EventRecordFlag;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.Stream;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DeviceText;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.work.Event;
import io.tessera.software.driver.work.Task;

/** Events. */
public final class EventEntries implements EntryGroup {
    private static final int KNOWN_FLAGS = EventFlag.BLOCKING_SYNC | EventFlag.DISABLE_TIMING | EventFlag.INTERPROCESS;
    private static final double NANOS_PER_MILLISECOND = 1e6;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public EventEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuEventCreate, this::create)
                .on(this::destroy, DriverEntry.cuEventDestroy, DriverEntry.cuEventDestroy_v2)
                .on(DriverEntry.cuEventRecord, call -> call.stream(1).record(call.object(0, Event.class), 0))
                .on(DriverEntry.cuEventRecordWithFlags, call -> {
                    DriverException.require((call.number(2) & ~EventRecordFlag.EXTERNAL) == 0, CudaError.INVALID_VALUE);
                    call.stream(1).record(call.object(0, Event.class), call.number(2));
                })
                .on(DriverEntry.cuEventQuery, call -> {
                    Event event = uncaptured(call);
                    check(event);
                    DriverException.require(event.reached(), CudaError.NOT_READY);
                })
                .on(DriverEntry.cuEventSynchronize, call -> {
                    Event event = uncaptured(call);
                    Task task = event.task();
                    if (task != null) {
                        task.await();
                    }
                    DeviceText.flush(call.context());
                    check(event);
                })
                .on(this::elapsed, DriverEntry.cuEventElapsedTime, DriverEntry.cuEventElapsedTime_v2);
    }

    private static void check(Event event) {
        CudaError error = event.fault().error();
        if (error != null) {
            throw new DriverException(error);
        }
    }

    private static Event uncaptured(Call call) {
        Event event = call.object(0, Event.class);
        DriverException.require(event.captured() == null, CudaError.CAPTURED_EVENT);
        return event;
    }

    private void create(Call call) {
        int flags = call.number(1);
        DriverException.require((flags & ~KNOWN_FLAGS) == 0, CudaError.INVALID_VALUE);
        DriverException.require((flags & EventFlag.INTERPROCESS) == 0, CudaError.NOT_SUPPORTED);
        long out = call.pointer(0);
        HostMemory.putLong(out, state.handles().of(new Event(flags, call.context().fault())));
    }

    /** Destroys an event. A thread that waits for its last record continues to wait: the record is an object of its own. */
    private void destroy(Call call) {
        state.handles().remove(call.object(0, Event.class));
    }

    private void elapsed(Call call) {
        long out = call.pointer(0);
        Event begin = call.object(1, Event.class);
        Event end = call.object(2, Event.class);
        DriverException.require(begin.timed() && end.timed() && begin.recording() != null && end.recording() != null,
                CudaError.INVALID_HANDLE);
        check(end);
        DriverException.require(begin.reached() && end.reached(), CudaError.NOT_READY);
        double nanos = end.recording().nanos() - begin.recording().nanos();
        HostMemory.putFloat(out, (float) (nanos / NANOS_PER_MILLISECOND));
    }
}
