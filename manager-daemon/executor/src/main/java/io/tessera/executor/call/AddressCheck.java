package io.tessera.executor.call;

import io.tessera.device.CudaEnums.MemoryOperation;
import io.tessera.device.CudaLayouts.CUstreamBatchMemOpParams;
import io.tessera.device.CudaResult;
import io.tessera.device.ParameterDescription.Pointer;
import io.tessera.executor.handle.DeferredReleases;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Checks that the addresses of a call belong to the client over their whole length. The check reads the executor's copy of the arguments, so that nothing
 * changes between check and use. One owner thread.
 */
public final class AddressCheck {
    private final ClientMemory memory;
    private final ClientStreams streams;
    private final DeferredReleases deferredReleases;
    private final MovedBytes moved;

    /** Creates an instance for one client. */
    public AddressCheck(ClientMemory memory, ClientStreams streams, DeferredReleases deferredReleases, MovedBytes moved) {
        this.moved = moved;
        this.deferredReleases = deferredReleases;
        this.memory = memory;
        this.streams = streams;
    }

    /**
     * Checks every address of a call.
     *
     * @throws RejectedException if one is not the client's
     */
    public void check(CallFrame frame, CallRow row) throws RejectedException {
        AddressRule rule = row.span();
        if (rule != AddressRule.IN_CALL) {
            for (int i : frame.described().addresses) {
                own(frame.slot(i), rule.bytes(frame, i));
            }
        }
        if (row.isTakingHostAddresses()) {
            for (int i = 0; i < frame.parameters(); i++) {
                if (frame.shape(i) instanceof Pointer && frame.data(i) == null && frame.slot(i) != 0) {
                    own(frame.slot(i), frame.addressBytes(i));
                }
            }
        }
    }

    /**
     * Checks the addresses of memory operations, of a stream or of a node.
     *
     * @throws RejectedException if one is not the client's, or an operation is unknown
     */
    public void operations(MemorySegment operations, long count, boolean inGraph) throws RejectedException {
        for (long i = 0; i < count; i++) {
            long at = i * CUstreamBatchMemOpParams.BYTES;
            int operation = operations.get(WireTypes.U32, at);
            long address = operations.get(WireTypes.U64, at + CUstreamBatchMemOpParams.waitValue_address);
            switch (operation) {
                case MemoryOperation.FLUSH_REMOTE_WRITES, MemoryOperation.BARRIER -> {
                    continue;
                }
                case MemoryOperation.WRITE_VALUE_32, MemoryOperation.WRITE_VALUE_64 ->
                    own(address, operation == MemoryOperation.WRITE_VALUE_64 ? Long.BYTES : Integer.BYTES);
                case MemoryOperation.WAIT_VALUE_32, MemoryOperation.WAIT_VALUE_64 -> {
                    boolean wide = operation == MemoryOperation.WAIT_VALUE_64;
                    own(address, wide ? Long.BYTES : Integer.BYTES);
                    awaits(address, wide, operations.get(WireTypes.U64, at + CUstreamBatchMemOpParams.waitValue_value64),
                            operations.get(WireTypes.U32, at + CUstreamBatchMemOpParams.waitValue_flags),
                            inGraph);
                }
                // Other types have their address at another place, which was not checked.
                default -> throw RejectedException.unsupported("stream memory operation " + operation);
            }
        }
    }

    /**
     * Checks that a stream may wait for a value in memory of the client.
     *
     * @throws RejectedException if nothing that belongs to the client could ever end the wait
     */
    public void awaits(long address, boolean wide, long value, int flags, boolean inGraph) throws RejectedException {
        String refusal = streams.waits(address, wide, value, flags, inGraph);
        if (refusal != null) {
            throw RejectedException.value(refusal);
        }
    }

    /** Delays the release of pinned memory and code that the call names. Memory of the window needs no delay: its addresses always stay the tenant's. */
    private void names(MemoryRange range) {
        if (range.origin() == MemoryRange.Origin.PINNED) {
            deferredReleases.names(range.address());
        }
        deferredReleases.namesCode(range.owner());
    }

    /**
     * Checks an address, at which this many rows lie.
     *
     * @throws RejectedException if it is not the client's
     */
    public void rows(long address, long bytes, long rows) throws RejectedException {
        own(address, bytes);
        moved.inRows(bytes == 0 ? 0 : rows);
    }

    /**
     * Checks an address.
     *
     * @throws RejectedException if the bytes from it are not the client's
     */
    public void own(long address, long bytes) throws RejectedException {
        if (bytes != 0 && !memory.contains(address, bytes)) {
            throw new RejectedException(CudaResult.INVALID_VALUE, Long.toUnsignedString(bytes) + " bytes at "
                    + Long.toHexString(address) + " are not the client's; " + memory.around(address));
        }
        moved.at(address, bytes);
        if (deferredReleases.isNaming()) {
            memory.containing(address).ifPresent(this::names);
        }
    }
}
