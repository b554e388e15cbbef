package io.tessera.executor.call;

import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.handle.TensorMaps;
import io.tessera.executor.stream.ClientContext;
import java.util.Map;

/**
 * Tensor maps: what they reach was checked when they are made ({@link AddressCheck}); that they were is remembered,
 * because the program keeps their bytes and hands them back. One owner thread.
 */
final class TensorMapCalls {
    private final ClientState client;
    private final TensorMaps maps;
    private final AddressCheck addresses;

    TensorMapCalls(ClientState client, AddressCheck addresses) {
        this.client = client;
        this.maps = client.handles().tensorMaps();
        this.addresses = addresses;
    }

    /** Enters the calls. */
    void register(Map<String, SpecialCall> calls) {
        calls.put("cuTensorMapEncodeTiled", this::encode);
        calls.put("cuTensorMapEncodeIm2col", this::encode);
        calls.put("cuTensorMapEncodeIm2colWide", this::encode);
        calls.put("cuTensorMapReplaceAddress", this::replace);
    }

    private int encode(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, TensorMaps.BYTES);
        long span = TensorExtent.ofCall(frame, 0);
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            maps.made(frame.data(0), span);
        }
        return result;
    }

    /** Parameters: map, address. */
    private int replace(CallFrame frame, ClientContext context) throws RejectedException {
        if (frame.inBytes(0) < TensorMaps.BYTES) {
            throw CallFrame.malformed("no tensor map");
        }
        long span = maps.span(frame.data(0));
        if (span < 0) {
            throw CallFrame.malformed("a tensor map that was not made for the client");
        }
        addresses.own(frame.slot(1), span);
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            maps.made(frame.data(0), span);
        }
        return result;
    }
}
