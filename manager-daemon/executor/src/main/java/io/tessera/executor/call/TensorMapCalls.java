package io.tessera.executor.call;

import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/**
 * Tensor maps: kernels read and write through them without an address of their own, so that what they span has to be the
 * client's when they are encoded. One owner thread.
 */
final class TensorMapCalls {
    private static final int MAP_BYTES = 128;
    private static final int MOST_DIMENSIONS = 5;
    /** Bytes of an element by {@code CUtensorMapDataType}; of packed ones at most. */
    private static final int[] ELEMENT_BYTES = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};

    private final ClientState client;
    private final AddressCheck addresses;

    TensorMapCalls(ClientState client, AddressCheck addresses) {
        this.client = client;
        this.addresses = addresses;
    }

    /** Enters the calls. */
    void register(Map<String, SpecialCall> calls) {
        calls.put("cuTensorMapEncodeTiled", this::encode);
        calls.put("cuTensorMapEncodeIm2col", this::encode);
        calls.put("cuTensorMapEncodeIm2colWide", this::encode);
        calls.put("cuTensorMapReplaceAddress", this::replace);
    }

    /** Parameters: map, type of elements, dimensions, address, sizes, strides of all but the first, and more. */
    private int encode(CallFrame frame, ClientContext context) throws RejectedException {
        long dimensions = frame.slot(2);
        if (dimensions < 1 || dimensions > MOST_DIMENSIONS) {
            throw CallFrame.malformed("a tensor of " + dimensions + " dimensions");
        }
        long span = span(frame, (int) dimensions);
        addresses.own(frame.slot(3), span);
        return called(frame, span);
    }

    /** From the first to the last byte of the tensor; nothing beyond it is touched, whatever coordinates a kernel has. */
    private static long span(CallFrame frame, int dimensions) throws RejectedException {
        MemorySegment sizes = frame.required(4);
        long type = frame.slot(1);
        long span = product(sizes.get(WireTypes.U64, 0),
                type >= 0 && type < ELEMENT_BYTES.length ? ELEMENT_BYTES[(int) type] : Long.BYTES);
        for (int i = 1; i < dimensions; i++) {
            long steps = sizes.get(WireTypes.U64, (long) i * Long.BYTES) - 1;
            long more = product(steps, frame.required(5).get(WireTypes.U64, (i - 1L) * Long.BYTES));
            if (more > Long.MAX_VALUE - span) {
                throw CallFrame.malformed("a tensor beyond all memory");
            }
            span += more;
        }
        return span;
    }

    private static long product(long left, long right) throws RejectedException {
        if (left < 0 || right < 0 || right != 0 && left > Long.MAX_VALUE / right) {
            throw CallFrame.malformed("a tensor beyond all memory");
        }
        return left * right;
    }

    /** Parameters: map, address. */
    private int replace(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment map = frame.required(0);
        long span = frame.inBytes(0) < MAP_BYTES ? -1 : client.fences().tensorMapSpan(map);
        if (span < 0) {
            throw CallFrame.malformed("a tensor map that was not encoded for the client");
        }
        addresses.own(frame.slot(1), span);
        return called(frame, span);
    }

    private int called(CallFrame frame, long span) throws RejectedException {
        if (frame.data(0) == null || frame.outBytes(0) < MAP_BYTES) {
            throw CallFrame.malformed("no place for a tensor map");
        }
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            client.fences().tensorMap(frame.data(0), span);
        }
        return result;
    }
}
