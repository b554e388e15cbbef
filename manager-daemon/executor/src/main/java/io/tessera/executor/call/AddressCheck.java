package io.tessera.executor.call;

import io.tessera.device.ParameterDescription.Pointer;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.handle.Holdovers;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/**
 * Whether the addresses of a call are the client's own, over their whole length. Checked on the executor's copy of the
 * arguments, so that nothing changes between check and use. One owner thread.
 */
final class AddressCheck {
    /** {@code CUstreamBatchMemOpParams}: an operation, and what of it is 64 bits wide (cuda.h). */
    private static final int OPERATION_BYTES = 48;
    private static final int WAIT_32 = 1;
    private static final int WRITE_32 = 2;
    private static final int FLUSH_REMOTE = 3;
    private static final int WAIT_64 = 4;
    private static final int WRITE_64 = 5;
    private static final int BARRIER = 6;

    /** Entries that end or make memory check for themselves in {@link MemoryCalls}. */
    private static final Map<String, Rule> RULES = Map.ofEntries(
            Map.entry("cuMemsetD8", (frame, i) -> frame.slot(2)),
            Map.entry("cuMemsetD16", (frame, i) -> times(frame.slot(2), 2)),
            Map.entry("cuMemsetD32", (frame, i) -> times(frame.slot(2), 4)),
            Map.entry("cuMemsetD8Async", (frame, i) -> frame.slot(2)),
            Map.entry("cuMemsetD16Async", (frame, i) -> times(frame.slot(2), 2)),
            Map.entry("cuMemsetD32Async", (frame, i) -> times(frame.slot(2), 4)),
            Map.entry("cuMemsetD2D8", (frame, i) -> plane(frame, 1)),
            Map.entry("cuMemsetD2D16", (frame, i) -> plane(frame, 2)),
            Map.entry("cuMemsetD2D32", (frame, i) -> plane(frame, 4)),
            Map.entry("cuMemsetD2D8Async", (frame, i) -> plane(frame, 1)),
            Map.entry("cuMemsetD2D16Async", (frame, i) -> plane(frame, 2)),
            Map.entry("cuMemsetD2D32Async", (frame, i) -> plane(frame, 4)),
            Map.entry("cuMemcpy", (frame, i) -> frame.slot(2)),
            Map.entry("cuMemcpyAsync", (frame, i) -> frame.slot(2)),
            Map.entry("cuMemcpyHtoD", (frame, i) -> frame.slot(2)),
            Map.entry("cuMemcpyHtoDAsync", (frame, i) -> frame.slot(2)),
            Map.entry("cuMemcpyDtoH", (frame, i) -> frame.slot(2)),
            Map.entry("cuMemcpyDtoHAsync", (frame, i) -> frame.slot(2)),
            Map.entry("cuMemcpyDtoD", (frame, i) -> frame.slot(2)),
            Map.entry("cuMemcpyDtoDAsync", (frame, i) -> frame.slot(2)),
            Map.entry("cuMemcpyPeer", (frame, i) -> frame.slot(4)),
            Map.entry("cuMemcpyPeerAsync", (frame, i) -> frame.slot(4)),
            Map.entry("cuMemcpyAtoD", (frame, i) -> frame.slot(3)),
            Map.entry("cuMemcpyDtoA", (frame, i) -> frame.slot(3)),
            Map.entry("cuStreamWriteValue32", (frame, i) -> 4),
            Map.entry("cuStreamWriteValue64", (frame, i) -> 8),
            Map.entry("cuStreamWaitValue32", (frame, i) -> 4),
            Map.entry("cuStreamWaitValue64", (frame, i) -> 8),
            Map.entry("cuTexRefSetAddress", (frame, i) -> frame.slot(3)),
            Map.entry("cuTexRefSetAddress2D", AddressCheck::referencePlane),
            Map.entry("cuMemRetainAllocationHandle", (frame, i) -> 1),
            Map.entry("cuTensorMapEncodeTiled", TensorExtent::ofCall),
            Map.entry("cuTensorMapEncodeIm2col", TensorExtent::ofCall),
            Map.entry("cuTensorMapEncodeIm2colWide", TensorExtent::ofCall));

    private final ClientMemory memory;
    private final ClientStreams streams;
    private final Holdovers holdovers;
    private final MovedBytes moved;

    /** How many bytes from an address an entry touches. */
    @FunctionalInterface
    private interface Rule {
        long bytes(CallFrame frame, int parameter) throws RejectedException;
    }

    AddressCheck(ClientMemory memory, ClientStreams streams, Holdovers holdovers, MovedBytes moved) {
        this.moved = moved;
        this.holdovers = holdovers;
        this.memory = memory;
        this.streams = streams;
    }

    private static long times(long count, long bytes) throws RejectedException {
        if (count < 0 || count > Long.MAX_VALUE / bytes) {
            throw CallFrame.malformed("a length beyond all memory");
        }
        return count * bytes;
    }

    /** Parameters of the two-dimensional memsets: address, pitch, value, width, height. */
    private static long plane(CallFrame frame, int elementBytes) throws RejectedException {
        return span(times(frame.slot(3), elementBytes), frame.slot(4), frame.slot(1));
    }

    /** Parameters of {@code cuTexRefSetAddress2D}: reference, {@code CUDA_ARRAY_DESCRIPTOR}, address, pitch. */
    private static long referencePlane(CallFrame frame, int parameter) throws RejectedException {
        MemorySegment shape = frame.required(1);
        long elementBytes = ArrayFormat.elementBytes(shape.get(WireTypes.U32, 16), shape.get(WireTypes.U32, 20));
        return span(times(shape.get(WireTypes.U64, 0), elementBytes), shape.get(WireTypes.U64, 8), frame.slot(3));
    }

    /** Bytes from the first to the last of so many rows; all numbers are unsigned. */
    static long span(long rowBytes, long rows, long pitch) throws RejectedException {
        return PitchedExtent.bytes(0, 0, 0, pitch, 0, rowBytes, rows, 1);
    }

    /**
     * Checks every address of a call.
     *
     * @throws RejectedException if one is not the client's
     */
    void check(CallFrame frame) throws RejectedException {
        CallPlan plan = frame.plan();
        if (MemoryCalls.checksItself(plan.api())) {
            return;
        }
        Rule rule = RULES.get(plan.api());
        waits(frame);
        for (int i : plan.addresses) {
            own(frame.slot(i), rule == null ? 1 : rule.bytes(frame, i));
        }
        if (plan.copies) {
            for (int i = 0; i < plan.shapes.length; i++) {
                if (plan.shapes[i] instanceof Pointer && frame.data(i) == null && frame.slot(i) != 0) {
                    own(frame.slot(i), frame.addressBytes(i));
                }
            }
        }
        if (plan.api().startsWith("cuMemsetD2D") && frame.slot(3) != 0) {
            moved.inRows(frame.slot(4));
        }
        if (plan.api().equals("cuStreamBatchMemOp")) {
            if (frame.slot(1) > 0) {
                operations(frame.required(2), frame.slot(1), false);
            }
        }
        if (plan.api().equals("cuMemcpyBatchAsync")) {
            batch(frame);
        }
    }

    /** Checks the addresses of memory operations, of a stream or of a node. */
    void operations(MemorySegment operations, long count, boolean inGraph) throws RejectedException {
        for (long i = 0; i < count; i++) {
            long at = i * OPERATION_BYTES;
            int operation = operations.get(WireTypes.U32, at);
            long address = operations.get(WireTypes.U64, at + 8);
            switch (operation) {
                case FLUSH_REMOTE, BARRIER -> {
                    continue;
                }
                case WRITE_32, WRITE_64 -> own(address, operation == WRITE_64 ? Long.BYTES : Integer.BYTES);
                case WAIT_32, WAIT_64 -> {
                    boolean wide = operation == WAIT_64;
                    own(address, wide ? Long.BYTES : Integer.BYTES);
                    awaits(address, wide, operations.get(WireTypes.U64, at + 16), operations.get(WireTypes.U32, at + 24),
                            inGraph);
                }
                // Others have their address somewhere else, where nobody has looked.
                default -> throw RejectedException.unsupported("stream memory operation " + operation);
            }
        }
    }

    /** Parameters of the waits: stream, address, value, flags. */
    private void waits(CallFrame frame) throws RejectedException {
        String api = frame.plan().api();
        if (api.equals("cuStreamWaitValue32") || api.equals("cuStreamWaitValue64")) {
            boolean wide = api.endsWith("64");
            own(frame.slot(1), wide ? Long.BYTES : Integer.BYTES);
            awaits(frame.slot(1), wide, frame.slot(2), (int) frame.slot(3), false);
        }
    }

    private void awaits(long address, boolean wide, long value, int flags, boolean inGraph) throws RejectedException {
        String refusal = streams.waits(address, wide, value, flags, inGraph);
        if (refusal != null) {
            throw RejectedException.value(refusal);
        }
    }

    private void batch(CallFrame frame) throws RejectedException {
        for (long i = 0; i < frame.slot(3); i++) {
            long bytes = frame.required(2).get(WireTypes.U64, i * Long.BYTES);
            own(frame.required(0).get(WireTypes.U64, i * Long.BYTES), bytes);
            own(frame.required(1).get(WireTypes.U64, i * Long.BYTES), bytes);
        }
    }

    /** Memory of the window is the tenant's whatever becomes of it; pinned memory and variables are not. */
    private void names(MemoryRange range) {
        if (range.origin() == MemoryRange.Origin.PINNED) {
            holdovers.names(range.address());
        }
        holdovers.namesCode(range.owner());
    }

    /** Refuses an address that is not the client's; what lies there is so many rows. */
    void rows(long address, long bytes, long rows) throws RejectedException {
        own(address, bytes);
        moved.inRows(bytes == 0 ? 0 : rows);
    }

    /** Refuses an address that is not the client's. */
    void own(long address, long bytes) throws RejectedException {
        if (bytes != 0 && !memory.contains(address, bytes)) {
            throw new RejectedException(CudaResult.INVALID_VALUE, Long.toUnsignedString(bytes) + " bytes at "
                    + Long.toHexString(address) + " are not the client's; " + memory.around(address));
        }
        moved.at(address, bytes);
        if (holdovers.isNaming()) {
            memory.containing(address).ifPresent(this::names);
        }
    }
}
