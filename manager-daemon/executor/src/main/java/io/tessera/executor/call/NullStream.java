package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.device.EntryDescriptions;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;

/**
 * Copies and memsets without a stream. The driver would run them on its own legacy stream, which knows nothing of the
 * client's: they run on the client's legacy stream where the driver has such a form, else between two events. One owner
 * thread.
 */
final class NullStream {
    private static final long DISABLE_TIMING = 2;

    /** By ordinal: the form with a stream behind the same parameters; null: there is none. */
    private static final DriverEntry[] TWINS = twins();

    private final ClientState client;
    private final MovedBytes moved;

    NullStream(ClientState client, MovedBytes moved) {
        this.moved = moved;
        this.client = client;
    }

    /** Makes the call. Returns the CUresult. */
    int call(CallFrame frame, ClientContext context) throws RejectedException {
        ClientStream legacy = client.streams().find(0, context);
        if (legacy == null) {
            throw RejectedException.bound("the driver gives this program no stream for its legacy stream; end other programs on this device, or start this one later");
        }
        client.streams().before(legacy);
        int result = call(frame, legacy);
        client.streams().moves(legacy, moved.ns());
        client.streams().after(legacy);
        return result;
    }

    private int call(CallFrame frame, ClientStream legacy) {
        CallPlan plan = frame.plan();
        DriverEntry twin = TWINS[plan.entry().ordinal()];
        if (twin != null) {
            frame.slot(plan.shapes.length, legacy.value());
            return client.driver().call(twin, frame.slots());
        }
        DriverCalls driver = client.driver();
        int result = driver.call(DriverEntry.cuEventCreate, driver.out(0), DISABLE_TIMING);
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long event = driver.outLong(0);
        driver.call(DriverEntry.cuEventRecord, event, legacy.value());
        driver.call(DriverEntry.cuStreamWaitEvent, 0, event, 0);
        result = driver.call(plan.entry(), frame.slots());
        driver.call(DriverEntry.cuEventRecord, event, 0);
        client.fences().watchdog().pausing(legacy.value(), false,
                () -> driver.call(DriverEntry.cuStreamWaitEvent, legacy.value(), event, 0));
        driver.call(DriverEntry.cuEventDestroy_v2, event);
        return result;
    }

    private static DriverEntry[] twins() {
        DriverEntry[] twins = new DriverEntry[DriverEntry.values().length];
        for (DriverEntry entry : DriverEntry.values()) {
            String name = entry.toString().replaceFirst("_ptds$", "").replaceFirst("_v2$", "");
            EntryDescriptions.ofName(name + "Async_v2").or(() -> EntryDescriptions.ofName(name + "Async"))
                    .filter(twin -> CallPlan.of(twin).shapes.length == CallPlan.of(entry).shapes.length + 1)
                    .ifPresent(twin -> twins[entry.ordinal()] = twin);
        }
        return twins;
    }
}
