package io.tessera.executor.call.memory;

import io.tessera.device.CudaEnums.EventFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.call.CallBody;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.MovedBytes;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import java.util.function.ToIntFunction;

/**
 * Copies and memsets without a stream. The driver would run them on its own legacy stream, which is not ordered with the client's. They run on the client's
 * legacy stream if the driver has such a form of the call, else between two events. One owner thread.
 */
final class NullStream {
    private final DriverCalls driver;
    private final ClientStreams streams;
    private final ClientFences fences;
    private final MovedBytes moved;

    NullStream(DriverCalls driver, ClientStreams streams, ClientFences fences, MovedBytes moved) {
        this.driver = driver;
        this.streams = streams;
        this.fences = fences;
        this.moved = moved;
    }

    /** Returns a body that calls another entry, which takes a stream after the same parameters. */
    CallBody by(DriverEntry withStream) {
        return (frame, context) -> inLegacyStream(context, legacy -> {
            frame.slot(frame.parameters(), legacy.value());
            return driver.call(withStream, frame.slots());
        });
    }

    /** Makes a call for which no entry takes a stream. Errors as with any call. */
    int between(CallFrame frame, ClientContext context) throws RejectedException {
        return inLegacyStream(context, legacy -> betweenEvents(frame, legacy));
    }

    private int inLegacyStream(ClientContext context, ToIntFunction<ClientStream> call) throws RejectedException {
        ClientStream legacy = streams.find(0, context);
        if (legacy == null) {
            throw RejectedException.bound(
                    "the driver gives this program no stream for its legacy stream; end other programs on this device, or start this one later");
        }
        streams.before(legacy);
        int result = call.applyAsInt(legacy);
        streams.moves(legacy, moved.ns());
        streams.after(legacy);
        return result;
    }

    private int betweenEvents(CallFrame frame, ClientStream legacy) {
        int result = driver.call(DriverEntry.cuEventCreate, driver.out(0), EventFlag.DISABLE_TIMING);
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long event = driver.outLong(0);
        driver.call(DriverEntry.cuEventRecord, event, legacy.value());
        driver.call(DriverEntry.cuStreamWaitEvent, 0, event, 0);
        result = driver.call(frame.entry(), frame.slots());
        driver.call(DriverEntry.cuEventRecord, event, 0);
        fences.watchdog().pausing(legacy.value(), false,
                () -> driver.call(DriverEntry.cuStreamWaitEvent, legacy.value(), event, 0));
        driver.call(DriverEntry.cuEventDestroy_v2, event);
        return result;
    }
}
