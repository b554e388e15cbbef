package io.tessera.executor.call.context;

import io.tessera.device.DriverApi;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallRow.StreamUse;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.EventWatch;

/** Events. One owner thread. */
final class EventCalls {
    private final EventWatch watch;
    private final ClientExports exports;

    EventCalls(EventWatch watch, ClientExports exports) {
        this.watch = watch;
        this.exports = exports;
    }

    void register(CallTable calls) {
        calls.plain(DriverApi.cuEventCreate, DriverApi.cuEventElapsedTime);
        calls.row(DriverApi.cuEventDestroy).ends(HandleKind.EVENT).executes(this::destroy);
        calls.row(DriverApi.cuEventRecord).stream(StreamUse.ORDER);
        calls.row(DriverApi.cuEventRecordWithFlags);
    }

    private int destroy(CallFrame frame, ClientContext context) {
        watch.forget(frame.slot(0));
        return exports.destroyEvent(frame.slot(0));
    }
}
