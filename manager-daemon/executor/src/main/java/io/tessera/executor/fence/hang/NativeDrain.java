package io.tessera.executor.fence.hang;

import io.tessera.device.CudaEnums.EventFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.FatalErrors;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import java.util.ArrayList;
import java.util.List;

/**
 * Determines when the unfenced work that a client submitted while its tenant was alone is done. It uses events behind all of that work, so that fenced work
 * continues meanwhile. One owner thread.
 */
public final class NativeDrain {
    private final TenantPresence.Member member;
    private final ClientStreams streams;
    private final DriverCalls driver;
    private final List<Long> events = new ArrayList<>();
    private boolean begun;

    /** Creates an instance for one client. */
    public NativeDrain(TenantPresence.Member member, ClientStreams streams, DriverCalls driver) {
        this.member = member;
        this.streams = streams;
        this.driver = driver;
    }

    /** Returns whether another client waits for it. */
    public boolean isDue() {
        return member.mustSettle();
    }

    /** Polls once. Returns SUCCESS, or a fatal CUresult. */
    public int poll() {
        if (member.hasRunNative()) {
            forget(); // the client that waited has left, and there is work behind the events
        }
        if (!begun) {
            begun = true;
            for (ClientContext context : streams.contexts()) {
                int result = begin(context);
                if (result != CudaResult.SUCCESS) {
                    return FatalErrors.isFatal(result) ? result : CudaResult.SUCCESS;
                }
            }
        }
        while (!events.isEmpty()) {
            long event = events.getLast();
            int result = driver.call(DriverEntry.cuEventQuery, event);
            if (result == CudaResult.NOT_READY) {
                return CudaResult.SUCCESS;
            }
            if (FatalErrors.isFatal(result)) {
                return result;
            }
            driver.call(DriverEntry.cuEventDestroy_v2, event);
            events.removeLast();
        }
        begun = false;
        member.settle();
        return CudaResult.SUCCESS;
    }

    private void forget() {
        events.forEach(event -> driver.call(DriverEntry.cuEventDestroy_v2, event));
        events.clear();
        begun = false;
    }

    private int begin(ClientContext context) {
        ClientStream joined = streams.joined(context);
        int result = joined == null ? CudaResult.OUT_OF_MEMORY
                : driver.call(DriverEntry.cuEventCreate, driver.out(0), EventFlag.DISABLE_TIMING);
        if (result != CudaResult.SUCCESS) {
            begun = false; // tried again at the next look
            return result;
        }
        long event = driver.outLong(0);
        events.add(event);
        return driver.call(DriverEntry.cuEventRecord, event, joined.value());
    }
}
