package io.tessera.executor.call.memory;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.executor.call.AddressCheck;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.TensorMaps;
import io.tessera.executor.stream.ClientContext;

/**
 * Tensor maps: their extent is checked when they are made ({@link AddressCheck}). The maps that were made are recorded, because the program keeps their bytes
 * and passes them back. One owner thread.
 */
final class TensorMapCalls {
    /** The parameter {@code interleave} of a tiled map, and of the two others. */
    private static final int TILED_INTERLEAVE = 8;
    private static final int PIXELS_INTERLEAVE = 11;
    private final DriverCalls driver;
    private final TensorMaps maps;
    private final AddressCheck addresses;

    TensorMapCalls(DriverCalls driver, TensorMaps maps, AddressCheck addresses) {
        this.driver = driver;
        this.maps = maps;
        this.addresses = addresses;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuTensorMapEncodeTiled).withoutContext().spans(TensorExtent::ofCall)
                .executes((frame, context) -> encode(frame, TILED_INTERLEAVE));
        calls.row(DriverApi.cuTensorMapEncodeIm2col).withoutContext().spans(TensorExtent::ofCall)
                .executes((frame, context) -> encode(frame, PIXELS_INTERLEAVE));
        calls.row(DriverApi.cuTensorMapEncodeIm2colWide).withoutContext().spans(TensorExtent::ofCall)
                .executes((frame, context) -> encode(frame, PIXELS_INTERLEAVE));
        calls.row(DriverApi.cuTensorMapReplaceAddress).withoutContext().executes(this::replace);
    }

    /** Refuses interleaved channels: copies by such a map access memory beyond its sizes (measured on an H100, tests/gpu/FINDINGS.md). */
    private int encode(CallFrame frame, int interleave) throws RejectedException {
        if (frame.slot(interleave) != 0) {
            throw RejectedException.unsupported("a tensor map with interleaved channels (CU_TENSOR_MAP_INTERLEAVE_16B or _32B)");
        }
        frame.want(0, TensorMaps.BYTES);
        long span = TensorExtent.ofCall(frame, 0);
        int result = driver.call(frame.entry(), frame.slots());
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
        int result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            maps.made(frame.data(0), span);
        }
        return result;
    }
}
