package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.device.EntryDescriptions;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import java.util.Optional;

/**
 * Copies and memsets without a stream. The driver would run them on its own legacy stream, which knows nothing of the
 * client's: they run on the client's legacy stream where the driver has such a form, else between two events. One owner
 * thread.
 */
final class NullStream {
    private static final long DISABLE_TIMING = 2;

    private final ClientState client;

    NullStream(ClientState client) {
        this.client = client;
    }

    /** Makes the call. Returns the CUresult. */
    int call(CallFrame frame, ClientContext context) throws RejectedException {
        ClientStream legacy = client.streams().find(0, context);
        if (legacy == null) {
            throw new RejectedException(CudaResult.OUT_OF_MEMORY, "no legacy stream");
        }
        client.streams().before(legacy);
        int result = call(frame, legacy);
        client.streams().after(legacy);
        return result;
    }

    private int call(CallFrame frame, ClientStream legacy) {
        CallPlan plan = frame.plan();
        String name = plan.entry().toString().replaceFirst("_ptds$", "");
        String base = name.endsWith("_v2") ? name.substring(0, name.length() - 3) : name;
        Optional<DriverEntry> twin = EntryDescriptions.ofName(base + "Async_v2")
                .or(() -> EntryDescriptions.ofName(base + "Async"));
        int parameters = plan.shapes.length;
        if (twin.isPresent() && CallPlan.of(twin.get()).shapes.length == parameters + 1) {
            frame.slot(parameters, legacy.value());
            return client.driver().call(twin.get(), frame.slots());
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
        driver.call(DriverEntry.cuStreamWaitEvent, legacy.value(), event, 0);
        driver.call(DriverEntry.cuEventDestroy_v2, event);
        return result;
    }
}
