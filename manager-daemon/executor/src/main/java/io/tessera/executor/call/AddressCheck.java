package io.tessera.executor.call;

import io.tessera.device.ParameterDescription.Pointer;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.memory.ClientMemory;
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
    private static final int WAIT_64 = 4;
    private static final int WRITE_64 = 5;
    private static final int FLUSH_REMOTE = 3;
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
            Map.entry("cuTexRefSetAddress", (frame, i) -> frame.slot(3)));

    private final ClientMemory memory;

    /** How many bytes from an address an entry touches. */
    @FunctionalInterface
    private interface Rule {
        long bytes(CallFrame frame, int parameter) throws RejectedException;
    }

    AddressCheck(ClientMemory memory) {
        this.memory = memory;
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

    /** Bytes from the first to the last of so many rows. */
    static long span(long rowBytes, long rows, long pitch) throws RejectedException {
        if (rows == 0 || rowBytes == 0) {
            return 0;
        }
        long before = times(rows - 1, Math.max(1, pitch));
        if (rowBytes < 0 || pitch < 0 || before > Long.MAX_VALUE - rowBytes) {
            throw CallFrame.malformed("a plane beyond all memory");
        }
        return rows == 1 ? rowBytes : before + rowBytes;
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
        if (plan.api().equals("cuStreamBatchMemOp")) {
            if (frame.slot(1) > 0) {
                operations(frame.required(2), frame.slot(1));
            }
        }
        if (plan.api().equals("cuMemcpyBatchAsync")) {
            batch(frame);
        }
    }

    /** Checks the addresses of memory operations. */
    void operations(MemorySegment operations, long count) throws RejectedException {
        for (long i = 0; i < count; i++) {
            long at = i * OPERATION_BYTES;
            int operation = operations.get(WireTypes.U32, at);
            if (operation == FLUSH_REMOTE || operation == BARRIER) {
                continue;
            }
            own(operations.get(WireTypes.U64, at + 8), operation == WAIT_64 || operation == WRITE_64 ? 8 : 4);
        }
    }

    private void batch(CallFrame frame) throws RejectedException {
        for (long i = 0; i < frame.slot(3); i++) {
            long bytes = frame.required(2).get(WireTypes.U64, i * Long.BYTES);
            own(frame.required(0).get(WireTypes.U64, i * Long.BYTES), bytes);
            own(frame.required(1).get(WireTypes.U64, i * Long.BYTES), bytes);
        }
    }

    /** Refuses an address that is not the client's. */
    void own(long address, long bytes) throws RejectedException {
        if (bytes != 0 && !memory.contains(address, bytes)) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "memory that is not the client's");
        }
    }
}
