package io.tessera.executor.fence;

import static io.tessera.protocol.relay.RelayLayout.LAUNCH;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.device.CudaLayouts.CUlaunchAttribute;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.MemorySegment;

/**
 * The contents of a LAUNCH record: a view of the executor's own copy of the record. That memory is not written while the record is handled: no client can reach
 * it, and handlers get it read-only ({@code RingConsumer}). So the plan does not change until the record's handler returns. The next record is copied to the
 * same memory, and the same plan then describes that record, so that no launch allocates. A caller that needs a launch for longer keeps the record's bytes
 * ({@code GridSlicing}). One owner thread.
 */
public final class LaunchPlan {
    /** Offset of grid, block and shared bytes in a record, as in {@code CUlaunchConfig}. */
    public static final long GRID = RecordHeader.BYTES + offset(LAUNCH, "grid");
    /** Offset of the attributes in a record; parameters follow them. */
    public static final long BODY = RecordHeader.BYTES + LAUNCH.byteSize();
    private static final int MOST_ATTRIBUTES = 64;
    private static final long FUNCTION = RecordHeader.BYTES + offset(LAUNCH, "function");
    private static final long STREAM = RecordHeader.BYTES + offset(LAUNCH, "stream");
    private static final long BLOCK = RecordHeader.BYTES + offset(LAUNCH, "block");
    private static final long SHARED_BYTES = RecordHeader.BYTES + offset(LAUNCH, "shared_bytes");
    private static final long ATTRIBUTES = RecordHeader.BYTES + offset(LAUNCH, "attributes");
    private static final long PARAMETER_BYTES = RecordHeader.BYTES + offset(LAUNCH, "parameter_bytes");

    private final MemorySegment record;
    private final MemorySegment parameters;

    /**
     * Creates a plan of launches whose records are copied to the given memory.
     *
     * @param record     the executor's copy; only read
     * @param parameters the packed parameters for the driver
     */
    public LaunchPlan(MemorySegment record, MemorySegment parameters) {
        this.record = record;
        this.parameters = parameters;
    }

    /** Returns the record. */
    public MemorySegment record() {
        return record;
    }

    /** Returns whether a record of this length contains all parameters and attributes that its head counts. */
    public boolean isWhole(int length) {
        return length >= BODY && attributes() >= 0 && attributes() <= MOST_ATTRIBUTES && parameterBytes() >= 0
                && parametersAt() + parameterBytes() <= length;
    }

    /** Returns the client's handle of the kernel or function. */
    public long function() {
        return record.get(WireTypes.U64, FUNCTION);
    }

    /** Returns the stream in the record. */
    public long stream() {
        return record.get(WireTypes.U64, STREAM);
    }

    /** Returns the packed parameters, as the driver gets them. */
    MemorySegment parameters() {
        return parameters;
    }

    /** Returns the length of the parameters. */
    public int parameterBytes() {
        return record.get(WireTypes.U32, PARAMETER_BYTES);
    }

    /** Returns the offset of the parameters in the record. */
    public long parametersAt() {
        return BODY + (long) attributes() * CUlaunchAttribute.BYTES;
    }

    /** Returns the number of attributes. */
    public int attributes() {
        return record.get(WireTypes.U32, ATTRIBUTES);
    }

    /** Returns the number of an attribute, below {@link #attributes}. */
    public int attribute(int i) {
        return record.get(WireTypes.U32, BODY + (long) i * CUlaunchAttribute.BYTES);
    }

    /** Returns the blocks in a dimension from 0 to 2, unsigned. */
    public int grid(int dimension) {
        return record.get(WireTypes.U32, GRID + 4L * dimension);
    }

    /** Returns the blocks of the grid; {@link Long#MAX_VALUE} if they exceed that. */
    public long blocks() {
        long plane = Integer.toUnsignedLong(grid(0)) * Integer.toUnsignedLong(grid(1));
        return Long.compareUnsigned(plane, Integer.MAX_VALUE) > 0 ? Long.MAX_VALUE : plane * Integer.toUnsignedLong(grid(2));
    }

    /** Threads of a block in a dimension, unsigned. */
    public int block(int dimension) {
        return record.get(WireTypes.U32, BLOCK + 4L * dimension);
    }

    /** Returns the threads of a block; if a dimension is too large, a number that is too large. */
    public long threads() {
        long plane = Integer.toUnsignedLong(block(0)) * Integer.toUnsignedLong(block(1));
        return Long.compareUnsigned(plane, Integer.MAX_VALUE) > 0 ? Integer.MAX_VALUE
                : Math.min(plane * Integer.toUnsignedLong(block(2)), Integer.MAX_VALUE);
    }

    /** Returns the dynamic shared memory of each block. */
    public long sharedBytes() {
        return Integer.toUnsignedLong(record.get(WireTypes.U32, SHARED_BYTES));
    }

    /** Returns whether all blocks must run together. */
    public boolean isCooperative() {
        return (RecordHeader.flags(record) & RelayLayout.FLAG_COOPERATIVE) != 0;
    }
}
