package io.tessera.executor.launch;

import static io.tessera.protocol.relay.RelayLayout.LAUNCH;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.ClientState;
import io.tessera.executor.call.GridBound;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.graph.GraphBook;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.fence.LaunchForm;
import io.tessera.executor.fence.ProgramRefusedException;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Launches kernels. Parameters go to the driver as one buffer ({@code CU_LAUNCH_PARAM_BUFFER_POINTER}), from memory that
 * is made once: no launch allocates. One owner thread.
 */
public final class LaunchExecutor {
    /** {@code extra} of cuLaunchKernel (cuda.h). */
    private static final long PARAM_BUFFER_POINTER = 1;
    private static final long PARAM_BUFFER_SIZE = 2;
    /** {@code CUlaunchConfig}: grid, block, shared bytes, stream, attributes, their count. */
    private static final int CONFIG_BYTES = 56;
    /** {@code CUlaunchAttribute}: id, padding, 64 bytes of value. */
    private static final int ATTRIBUTE_BYTES = 72;
    private static final int MOST_ATTRIBUTES = 64;
    private static final int ACCESS_POLICY_WINDOW = 1;
    private static final int COOPERATIVE = 2;
    private static final int CLUSTER_DIMENSION = 4;
    private static final int PREFERRED_CLUSTER_DIMENSION = 11;
    private static final int PROGRAMMATIC_EVENT = 7;
    private static final int COMPLETION_EVENT = 12;
    /**
     * Attributes that say nothing of how many blocks run together, by their bits: none, access policy, synchronisation policy, programmatic
     * serialisation and event, priority, memory domains, completion event.
     */
    private static final long OF_ANY_CODE = 1 | 1 << ACCESS_POLICY_WINDOW | 1 << 3 | 1 << 6 | 1 << PROGRAMMATIC_EVENT | 1 << 8 | 1 << 9 | 1 << 10
            | 1 << COMPLETION_EVENT;
    private static final int DEVICE_UPDATABLE_NODE = 13;

    private static final long FUNCTION = RecordHeader.BYTES + offset(LAUNCH, "function");
    private static final long STREAM = RecordHeader.BYTES + offset(LAUNCH, "stream");
    private static final long GRID = RecordHeader.BYTES + offset(LAUNCH, "grid");
    private static final long BLOCK = RecordHeader.BYTES + offset(LAUNCH, "block");
    private static final long SHARED_BYTES = RecordHeader.BYTES + offset(LAUNCH, "shared_bytes");
    private static final long ATTRIBUTES = RecordHeader.BYTES + offset(LAUNCH, "attributes");
    private static final long PARAMETER_BYTES = RecordHeader.BYTES + offset(LAUNCH, "parameter_bytes");
    private static final long BODY = RecordHeader.BYTES + LAUNCH.byteSize();

    private final ClientState client;
    private final ClientHandles handles;
    private final GraphBook graphs;
    private final MemorySegment slots;
    private final MemorySegment exSlots;
    private final MemorySegment config;
    private final MemorySegment attributes;
    private final MemorySegment extra;
    private final MemorySegment size;
    private final MemorySegment parameters;
    private final LaunchForm form;
    private ClientStream launched;

    /** For one client; memory of an arena that lives as long as this. */
    public LaunchExecutor(ClientState client, GraphBook graphs, Arena arena) {
        this.client = client;
        this.graphs = graphs;
        this.handles = client.handles();
        this.slots = arena.allocate(11L * Long.BYTES, Long.BYTES);
        this.exSlots = arena.allocate(4L * Long.BYTES, Long.BYTES);
        this.config = arena.allocate(CONFIG_BYTES, Long.BYTES);
        this.attributes = arena.allocate((long) ATTRIBUTE_BYTES * (MOST_ATTRIBUTES + 1), 64);
        this.size = arena.allocate(Long.BYTES, Long.BYTES);
        this.parameters = arena.allocate(RelayLayout.RECORD_MAX, 64);
        this.form = new LaunchForm(parameters);
        this.extra = arena.allocate(5L * Long.BYTES, Long.BYTES);
        extra.setAtIndex(ValueLayout.JAVA_LONG, 0, PARAM_BUFFER_POINTER);
        extra.setAtIndex(ValueLayout.JAVA_LONG, 1, parameters.address());
        extra.setAtIndex(ValueLayout.JAVA_LONG, 2, PARAM_BUFFER_SIZE);
        extra.setAtIndex(ValueLayout.JAVA_LONG, 3, size.address());
        slots.setAtIndex(ValueLayout.JAVA_LONG, 10, extra.address());
        exSlots.setAtIndex(ValueLayout.JAVA_LONG, 0, config.address());
        exSlots.setAtIndex(ValueLayout.JAVA_LONG, 3, extra.address());
        config.set(WireTypes.U64, 40, attributes.address());
    }

    /**
     * Launches.
     *
     * @return the driver's CUresult
     * @throws RejectedException if the record is not one that a client may send
     */
    public int launch(MemorySegment record, int length) throws RejectedException {
        if (length < BODY) {
            throw malformed("a launch without a head");
        }
        int attributeCount = record.get(WireTypes.U32, ATTRIBUTES);
        int parameterBytes = record.get(WireTypes.U32, PARAMETER_BYTES);
        if (attributeCount < 0 || attributeCount > MOST_ATTRIBUTES || parameterBytes < 0
                || BODY + (long) attributeCount * ATTRIBUTE_BYTES + parameterBytes > length) {
            throw malformed("a launch with " + attributeCount + " attributes and " + parameterBytes + " bytes");
        }
        long function = handles.value(HandleKind.FUNCTION, record.get(WireTypes.U64, FUNCTION));
        if (function == HandleTable.NONE) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no kernel of the client");
        }
        ClientContext context = client.streams().context(RecordHeader.context(record));
        if (context == null) {
            throw new RejectedException(CudaResult.INVALID_CONTEXT, "no context");
        }
        ClientStream stream = client.streams().find(record.get(WireTypes.U64, STREAM), context);
        if (stream == null) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no stream of the client");
        }
        GridBound.check(record, GRID);
        long parametersAt = BODY + (long) attributeCount * ATTRIBUTE_BYTES;
        MemorySegment.copy(record, parametersAt, parameters, 0, parameterBytes);
        size.set(WireTypes.U64, 0, parameterBytes);
        launched = stream;
        checkClusters(record, attributeCount, function);
        boolean cooperative = (RecordHeader.flags(record) & RelayLayout.FLAG_COOPERATIVE) != 0;
        form.fill(parameterBytes, record.get(WireTypes.U32, GRID), record.get(WireTypes.U32, BLOCK), record.get(WireTypes.U32, BLOCK + 4));
        form.volume(product(record, GRID), product(record, BLOCK), unsigned(record, SHARED_BYTES));
        boolean capturing = client.streams().isCapturing(stream);
        if (capturing) {
            graphs.captured(stream, 1, parameterBytes + (long) attributeCount * ATTRIBUTE_BYTES, 0);
        }
        form.kind(capturing, !cooperative && areOfAnyCode(record, attributeCount));
        function = code(record.get(WireTypes.U64, FUNCTION), function);
        client.streams().before(stream);
        int result = attributeCount == 0 && !cooperative ? plain(record, function, stream, parameterBytes)
                : extended(record, function, stream, parameterBytes, attributeCount, cooperative);
        client.streams().after(stream);
        return result;
    }

    private int plain(MemorySegment record, long function, ClientStream stream, int parameterBytes) {
        slots.setAtIndex(ValueLayout.JAVA_LONG, 0, function);
        for (int i = 0; i < 3; i++) {
            slots.setAtIndex(ValueLayout.JAVA_LONG, 1 + i, unsigned(record, GRID + 4L * i));
            slots.setAtIndex(ValueLayout.JAVA_LONG, 4 + i, unsigned(record, BLOCK + 4L * i));
        }
        slots.setAtIndex(ValueLayout.JAVA_LONG, 7, unsigned(record, SHARED_BYTES));
        slots.setAtIndex(ValueLayout.JAVA_LONG, 8, stream.value());
        slots.setAtIndex(ValueLayout.JAVA_LONG, 10, parameterBytes == 0 ? 0 : extra.address());
        return submit(DriverEntry.cuLaunchKernel, slots);
    }

    private static boolean areOfAnyCode(MemorySegment record, int attributeCount) {
        for (int i = 0; i < attributeCount; i++) {
            int id = record.get(WireTypes.U32, BODY + (long) i * ATTRIBUTE_BYTES);
            if (id < 0 || id >= Long.SIZE || (OF_ANY_CODE >> id & 1) == 0) {
                return false;
            }
        }
        return true;
    }

    private void checkClusters(MemorySegment record, int attributeCount, long function) throws RejectedException {
        for (int i = 0; i < attributeCount; i++) {
            if (record.get(WireTypes.U32, BODY + (long) i * ATTRIBUTE_BYTES) == CLUSTER_DIMENSION
                    || record.get(WireTypes.U32, BODY + (long) i * ATTRIBUTE_BYTES) == PREFERRED_CLUSTER_DIMENSION) {
                try {
                    client.fences().kernels().inCluster(record.get(WireTypes.U64, FUNCTION), function);
                } catch (ProgramRefusedException e) {
                    throw RejectedException.of(e);
                }
            }
        }
    }

    /** The stream of the last launch that reached the driver. */
    public ClientStream stream() {
        return launched;
    }

    /** Which of a kernel's codes is launched. */
    private long code(long said, long function) throws RejectedException {
        try {
            return client.fences().kernels().toLaunch(said, function, form);
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    private int extended(MemorySegment record, long function, ClientStream stream, int parameterBytes,
            int attributeCount, boolean cooperative) throws RejectedException {
        MemorySegment.copy(record, GRID, config, 0, 28); // grid, block and shared bytes lie as in the configuration
        config.set(WireTypes.U64, 32, stream.value());
        MemorySegment.copy(record, BODY, attributes, 0, (long) attributeCount * ATTRIBUTE_BYTES);
        for (int i = 0; i < attributeCount; i++) {
            attribute((long) i * ATTRIBUTE_BYTES);
        }
        int count = attributeCount;
        if (cooperative) {
            long at = (long) count++ * ATTRIBUTE_BYTES;
            attributes.asSlice(at, ATTRIBUTE_BYTES).fill((byte) 0);
            attributes.set(WireTypes.U32, at, COOPERATIVE);
            attributes.set(WireTypes.U32, at + 8, 1);
        }
        config.set(WireTypes.U32, 48, count);
        exSlots.setAtIndex(ValueLayout.JAVA_LONG, 1, function);
        exSlots.setAtIndex(ValueLayout.JAVA_LONG, 3, parameterBytes == 0 ? 0 : extra.address());
        return submit(DriverEntry.cuLaunchKernelEx, exSlots);
    }

    private int submit(DriverEntry entry, MemorySegment arguments) {
        return form.loads() ? client.driver().callSynchronizing(entry, arguments) : client.driver().call(entry, arguments);
    }

    /** Events in attributes are handles; a node that the device updates would give its handle to the program. */
    private void attribute(long at) throws RejectedException {
        int id = attributes.get(WireTypes.U32, at);
        if (id == DEVICE_UPDATABLE_NODE) {
            throw RejectedException.unsupported("a kernel node that the device may change");
        }
        if (id == ACCESS_POLICY_WINDOW) {
            long address = attributes.get(WireTypes.U64, at + 8);
            long bytes = attributes.get(WireTypes.U64, at + 16);
            if (address != 0 && bytes != 0 && !client.memory().contains(address, bytes)) {
                throw malformed("a window of " + Long.toUnsignedString(bytes) + " bytes at " + Long.toHexString(address)
                        + " is not the client's; " + client.memory().around(address));
            }
        }
        if (id == PROGRAMMATIC_EVENT || id == COMPLETION_EVENT) {
            long said = attributes.get(WireTypes.U64, at + 8);
            long event = handles.value(HandleKind.EVENT, said);
            if (event == HandleTable.NONE && said != 0) {
                throw new RejectedException(CudaResult.INVALID_HANDLE, "no event of the client");
            }
            attributes.set(WireTypes.U64, at + 8, event);
        }
    }

    private static double product(MemorySegment record, long at) {
        return (double) unsigned(record, at) * unsigned(record, at + 4) * unsigned(record, at + 8);
    }

    private static long unsigned(MemorySegment record, long at) {
        return Integer.toUnsignedLong(record.get(WireTypes.U32, at));
    }

    private static RejectedException malformed(String reason) {
        return new RejectedException(CudaResult.INVALID_VALUE, reason);
    }
}
