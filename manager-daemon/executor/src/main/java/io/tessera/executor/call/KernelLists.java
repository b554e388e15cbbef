package io.tessera.executor.call;

import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.fence.RefusedCode;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/** The kernels of a module or library, counted and listed without those that fencing has added. One owner thread. */
final class KernelLists {
    private static final int MOST = 1 << 20;

    private final ClientState client;

    KernelLists(ClientState client) {
        this.client = client;
    }

    void register(Map<String, SpecialCall> calls) {
        calls.put("cuModuleGetFunctionCount", this::count);
        calls.put("cuLibraryGetKernelCount", this::count);
        calls.put("cuModuleEnumerateFunctions", this::list);
        calls.put("cuLibraryEnumerateKernels", this::list);
    }

    /** Parameters: count, module or library. */
    private int count(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Integer.BYTES);
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            MemorySegment count = frame.data(0);
            count.set(WireTypes.U32, 0, Math.max(0, count.get(WireTypes.U32, 0) - client.fences().addedKernels(frame.slot(1))));
        }
        return result;
    }

    /** Parameters: functions or kernels, their most, module or library. */
    private int list(CallFrame frame, ClientContext context) throws RejectedException {
        int result = list(frame);
        RefusedCode.byDriver(result, client.driver().port(), client.segment());
        return result;
    }

    private int list(CallFrame frame) throws RejectedException {
        int added = client.fences().addedKernels(frame.slot(2));
        MemorySegment wanted = frame.data(0);
        long most = Integer.toUnsignedLong((int) frame.slot(1));
        if (added == 0 || wanted == null || most == 0) {
            return client.driver().call(frame.plan().entry(), frame.slots());
        }
        boolean kernels = frame.plan().api().equals("cuLibraryEnumerateKernels");
        long asked = Math.min(MOST, most + added);
        MemorySegment all = frame.room(asked * Long.BYTES);
        frame.slot(0, all.address());
        frame.slot(1, asked);
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        long at = 0;
        for (long i = 0; result == CudaResult.SUCCESS && i < asked && at < most * Long.BYTES; i++) {
            long each = all.get(WireTypes.U64, i * Long.BYTES);
            if (each != 0 && !client.fences().isAdded(each, kernels)) {
                wanted.set(WireTypes.U64, at, each);
                at += Long.BYTES;
            }
        }
        frame.slot(0, wanted.address());
        frame.slot(1, most);
        return result;
    }
}
