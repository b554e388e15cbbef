package io.tessera.executor.call.memory;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayLayout;

/** CUDA's IPC handles between clients of one tenant: none of these calls reaches the driver. One owner thread. */
final class IpcCalls {
    private static final int HANDLE_BYTES = (int) RelayLayout.IPC_HANDLE.byteSize();

    private final ClientExports exports;

    IpcCalls(ClientExports exports) {
        this.exports = exports;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuIpcGetMemHandle).executes((frame, _) -> {
            wantHandle(frame);
            return exports.exportMemory(frame.slot(1), frame.data(0));
        });
        calls.row(DriverApi.cuIpcGetEventHandle).executes((frame, _) -> {
            wantHandle(frame);
            return exports.exportEvent(frame.slot(1), frame.data(0));
        });
        calls.row(DriverApi.cuIpcOpenMemHandle).makesMemory().executes(this::openMemory);
        calls.row(DriverApi.cuIpcOpenEventHandle).executes((frame, _) -> answer(frame, exports.openEvent(frame.required(1))));
        calls.row(DriverApi.cuIpcCloseMemHandle).executes((frame, _) -> exports.closeMemory(frame.slot(0)));
    }

    private static void wantHandle(CallFrame frame) throws RejectedException {
        if (frame.outBytes(0) != HANDLE_BYTES) {
            throw CallFrame.malformed("no room for a handle");
        }
    }

    /** Parameters: address, handle, flags. */
    private int openMemory(CallFrame frame, ClientContext context) throws RejectedException {
        return answer(frame, exports.openMemory(frame.required(1), context.number()));
    }

    /** Writes the address of opened memory to the first parameter's output. A negative number is minus the CUresult. */
    private static int answer(CallFrame frame, long opened) throws RejectedException {
        if (opened < 0) {
            return (int) -opened;
        }
        frame.want(0, Long.BYTES);
        frame.data(0).set(WireTypes.U64, 0, opened);
        return CudaResult.SUCCESS;
    }
}
