package io.tessera.executor.call.context;

import io.tessera.device.CudaEnums.EventRecordFlag;
import io.tessera.device.DriverApi;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallRow.StreamUse;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.handle.DeferredReleases;
import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.EventWatch;
import java.util.Set;

/** Events. One owner thread. */
final class EventCalls {
    private final EventWatch watch;
    private final ClientExports exports;
    private final DeferredReleases deferredReleases;

    EventCalls(EventWatch watch, ClientExports exports, DeferredReleases deferredReleases) {
        this.watch = watch;
        this.exports = exports;
        this.deferredReleases = deferredReleases;
    }

    void register(CallTable calls) {
        calls.plain(DriverApi.cuEventCreate, DriverApi.cuEventElapsedTime);
        calls.row(DriverApi.cuEventDestroy).ends(HandleKind.EVENT).executes(this::destroy);
        calls.row(DriverApi.cuEventRecord).stream(StreamUse.ORDER);
        calls.row(DriverApi.cuEventRecordWithFlags).checks(frame -> nodeOf(deferredReleases, frame, 0, EventRecordFlag.EXTERNAL));
    }

    /** Records the event that a captured call puts into a node. The flags in its third parameter say whether it makes a node. */
    static void nodeOf(DeferredReleases releases, CallFrame frame, int event, int external) {
        if ((frame.slot(2) & external) != 0) {
            releases.names(frame.slot(event));
        }
    }

    private int destroy(CallFrame frame, ClientContext context) {
        watch.forget(frame.slot(0));
        long event = frame.slot(0);
        return deferredReleases.end(Set.of(event), () -> exports.destroyEvent(event));
    }
}
