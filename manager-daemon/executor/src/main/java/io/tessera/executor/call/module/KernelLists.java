package io.tessera.executor.call.module;

import io.tessera.device.DriverApi;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.RefusedCode;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.MemorySegment;

/** The kernels of a module or library, counted and listed without those that fencing has added. One owner thread. */
final class KernelLists {
    private static final int MOST = 1 << 20;

    private final DriverCalls driver;
    private final ClientFences fences;
    private final RelaySegment segment;

    KernelLists(DriverCalls driver, ClientFences fences, RelaySegment segment) {
        this.driver = driver;
        this.fences = fences;
        this.segment = segment;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuModuleGetFunctionCount).executes(this::count);
        calls.row(DriverApi.cuLibraryGetKernelCount).withoutContext().executes(this::count);
        calls.row(DriverApi.cuModuleEnumerateFunctions).executes((frame, _) -> listOrRefusal(frame, false));
        calls.row(DriverApi.cuLibraryEnumerateKernels).withoutContext().executes((frame, _) -> listOrRefusal(frame, true));
    }

    /** Parameters: count, module or library. */
    private int count(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Integer.BYTES);
        int result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            MemorySegment count = frame.data(0);
            count.set(WireTypes.U32, 0, Math.max(0, count.get(WireTypes.U32, 0) - fences.addedKernels(frame.slot(1))));
        }
        return result;
    }

    /** Parameters: functions or kernels, their most, module or library. */
    private int listOrRefusal(CallFrame frame, boolean kernels) throws RejectedException {
        int result = list(frame, kernels);
        RefusedCode.byDriver(result, driver.port(), segment);
        return result;
    }

    private int list(CallFrame frame, boolean kernels) throws RejectedException {
        int added = fences.addedKernels(frame.slot(2));
        MemorySegment wanted = frame.data(0);
        long most = Integer.toUnsignedLong((int) frame.slot(1));
        if (added == 0 || wanted == null || most == 0) {
            return driver.call(frame.entry(), frame.slots());
        }
        long asked = Math.min(MOST, most + added);
        MemorySegment all = frame.room(asked * Long.BYTES);
        frame.slot(0, all.address());
        frame.slot(1, asked);
        int result = driver.call(frame.entry(), frame.slots());
        long at = 0;
        for (long i = 0; result == CudaResult.SUCCESS && i < asked && at < most * Long.BYTES; i++) {
            long each = all.get(WireTypes.U64, i * Long.BYTES);
            if (each != 0 && !fences.isAdded(each, kernels)) {
                wanted.set(WireTypes.U64, at, each);
                at += Long.BYTES;
            }
        }
        frame.slot(0, wanted.address());
        frame.slot(1, most);
        return result;
    }
}
