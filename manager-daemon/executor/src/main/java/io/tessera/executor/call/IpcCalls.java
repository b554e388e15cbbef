package io.tessera.executor.call;

import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayLayout;
import java.util.Map;

/** CUDA's IPC handles between clients of one tenant: none of these calls reaches the driver. One owner thread. */
final class IpcCalls {
    private static final int HANDLE_BYTES = (int) RelayLayout.IPC_HANDLE.byteSize();

    private final ClientState client;

    IpcCalls(ClientState client) {
        this.client = client;
    }

    /** Enters the calls. */
    void register(Map<String, SpecialCall> calls) {
        calls.put("cuIpcGetMemHandle", (frame, context) -> {
            wantHandle(frame);
            return client.exports().exportMemory(frame.slot(1), frame.data(0));
        });
        calls.put("cuIpcGetEventHandle", (frame, context) -> {
            wantHandle(frame);
            return client.exports().exportEvent(frame.slot(1), frame.data(0));
        });
        calls.put("cuIpcOpenMemHandle", this::openMemory);
        calls.put("cuIpcOpenEventHandle",
                (frame, context) -> answer(frame, client.exports().openEvent(frame.required(1))));
        calls.put("cuIpcCloseMemHandle", (frame, context) -> client.exports().closeMemory(frame.slot(0)));
    }

    private static void wantHandle(CallFrame frame) throws RejectedException {
        if (frame.outBytes(0) != HANDLE_BYTES) {
            throw CallFrame.malformed("no room for a handle");
        }
    }

    /** Parameters: address, handle, flags. */
    private int openMemory(CallFrame frame, ClientContext context) throws RejectedException {
        return answer(frame, client.exports().openMemory(frame.required(1), context.number()));
    }

    /** The first parameter's out-data is what was opened; below 0: why nothing was. */
    private static int answer(CallFrame frame, long opened) throws RejectedException {
        if (opened < 0) {
            return (int) -opened;
        }
        frame.want(0, Long.BYTES);
        frame.data(0).set(WireTypes.U64, 0, opened);
        return CudaResult.SUCCESS;
    }
}
