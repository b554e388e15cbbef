package io.tessera.executor.launch;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.GridBound;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.graph.GraphBook;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientKernels;
import io.tessera.executor.fence.LaunchPlan;
import io.tessera.executor.fence.Launchable;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.part.ProcessorParts;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.guardian.slice.GridSlices;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RecordKind;
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
    private static final int CONFIG_SHARED = 24;
    /** Most attributes: those of the record, and one of the executor's. */
    private static final int MOST_ATTRIBUTES = 65;
    private static final int ACCESS_POLICY_WINDOW = 1;
    private static final int COOPERATIVE = 2;
    private static final int CLUSTER_DIMENSION = 4;
    private static final int PREFERRED_CLUSTER_DIMENSION = 11;
    private static final int PROGRAMMATIC_EVENT = 7;
    private static final int COMPLETION_EVENT = 12;
    private static final int DEVICE_UPDATABLE_NODE = 13;

    private final DriverCalls driver;
    private final ClientHandles handles;
    private final ClientStreams streams;
    private final ClientMemory memory;
    private final ClientKernels kernels;
    private final GraphBook graphs;
    private final MemorySegment slots;
    private final MemorySegment exSlots;
    private final MemorySegment config;
    private final MemorySegment attributes;
    private final MemorySegment extra;
    private final MemorySegment size;
    private final MemorySegment parameters;
    private final PartRoom room;
    private final GridSlicing slicing;
    private LaunchPlan plan;

    /** Hears of launches that the driver was asked for. */
    @FunctionalInterface
    public interface Listener {
        /** A launch in a stream was answered with a CUresult. */
        void launched(ClientStream stream, int result);
    }

    /** For one client; memory of an arena that lives as long as this. */
    public LaunchExecutor(DriverCalls driver, ClientHandles handles, ClientStreams streams, ClientMemory memory, ClientKernels kernels,
            GraphBook graphs, NanoClock clock, Arena arena) {
        this.driver = driver;
        this.handles = handles;
        this.streams = streams;
        this.memory = memory;
        this.kernels = kernels;
        this.graphs = graphs;
        this.room = new PartRoom(kernels, streams.parts().processors());
        this.slicing = new GridSlicing(streams, kernels, driver, clock, arena.allocate(RelayLayout.RECORD_MAX, 64));
        this.slots = arena.allocate(11L * Long.BYTES, Long.BYTES);
        this.exSlots = arena.allocate(4L * Long.BYTES, Long.BYTES);
        this.config = arena.allocate(CONFIG_BYTES, Long.BYTES);
        this.attributes = arena.allocate((long) LaunchPlan.ATTRIBUTE_BYTES * MOST_ATTRIBUTES, 64);
        this.size = arena.allocate(Long.BYTES, Long.BYTES);
        this.parameters = arena.allocate(RelayLayout.RECORD_MAX + Long.BYTES + GridSlices.PARAMETER_BYTES, 64);
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

    /** Whether a record that comes next is a launch that may come in parts of its grid ({@link #comesInParts}). Before any other record, parts of a launch are left. */
    public boolean mayComeInParts(MemorySegment record, int length) {
        if (!kernels.comeInParts()) {
            return false;
        }
        if (RecordHeader.kind(record) != RecordKind.LAUNCH.code()) {
            slicing.other();
            return false;
        }
        try {
            boolean large = GridSlicing.isLarge(plan(record, length));
            if (large) {
                GridBound.check(record, LaunchPlan.GRID);
            }
            return large;
        } catch (RejectedException e) {
            return false; // the user learns of it when the record is taken
        }
    }

    /**
     * Launches parts of such a launch's grid, as many as may go now.
     *
     * @param listener hears of each
     * @return whether the record is not to be taken yet, but to come again
     */
    public boolean comesInParts(MemorySegment record, int length, Listener listener) {
        LaunchPlan launch = plan;
        ClientContext context = streams.context(RecordHeader.context(record));
        ClientStream stream = context == null ? null : streams.find(launch.stream(), context);
        return slicing.comesAgain(launch, length, stream, (part, into) -> launchPart(launch, part, into, listener));
    }

    /** Whether a record is to come again for the rest of its parts. */
    public boolean isInParts() {
        return slicing.isOpen();
    }

    /** The client's work is done: events of parts that were out are given back. */
    public void close() {
        slicing.close();
    }

    private int launchPart(LaunchPlan launch, GridParts part, ClientStream stream, Listener listener) throws ProgramRefusedException {
        Launchable kernel = kernels.launchable(launch.function());
        if (kernel == null) {
            return CudaResult.INVALID_HANDLE;
        }
        MemorySegment.copy(launch.record(), launch.parametersAt(), parameters, 0, launch.parameterBytes());
        long function = kernels.toLaunchPart(kernel, launch);
        long at = RelayLayout.align((int) kernel.parameterBytes(), Integer.BYTES);
        for (int i = 0; i < 3; i++) {
            parameters.set(WireTypes.U32, at + (long) Integer.BYTES * i, part.first(i));
            parameters.set(WireTypes.U32, at + (long) Integer.BYTES * (3 + i), part.grid(i));
            slots.setAtIndex(ValueLayout.JAVA_LONG, 1 + i, part.size(i));
            slots.setAtIndex(ValueLayout.JAVA_LONG, 4 + i, Integer.toUnsignedLong(launch.block(i)));
        }
        size.set(WireTypes.U64, 0, at + GridSlices.PARAMETER_BYTES);
        streams.parts().place(stream, streams.parts().wanted());
        streams.before(stream);
        slots.setAtIndex(ValueLayout.JAVA_LONG, 0, function);
        slots.setAtIndex(ValueLayout.JAVA_LONG, 7, kernel.sharedBytes(function, launch.sharedBytes()));
        slots.setAtIndex(ValueLayout.JAVA_LONG, 8, stream.value());
        slots.setAtIndex(ValueLayout.JAVA_LONG, 10, extra.address());
        int result = kernels.loadsPart(kernel) ? driver.callSynchronizing(DriverEntry.cuLaunchKernel, slots)
                : driver.call(DriverEntry.cuLaunchKernel, slots);
        streams.after(stream);
        listener.launched(stream, result);
        return result;
    }

    /**
     * Launches.
     *
     * @param listener hears of it if the driver is asked
     * @return the driver's CUresult
     * @throws RejectedException if the record is not one that a client may send
     */
    public int launch(MemorySegment record, int length, Listener listener) throws RejectedException {
        LaunchPlan launch = plan(record, length);
        try {
            if (slicing.taken(record, length)) {
                return slicing.result();
            }
            Launchable kernel = kernels.launchable(launch.function());
            if (kernel == null) {
                throw new RejectedException(CudaResult.INVALID_HANDLE, "no kernel of the client");
            }
            ClientStream stream = stream(launch);
            GridBound.check(record, LaunchPlan.GRID);
            MemorySegment.copy(record, launch.parametersAt(), parameters, 0, launch.parameterBytes());
            size.set(WireTypes.U64, 0, launch.parameterBytes());
            checkClusters(launch, kernel);
            boolean capturing = streams.isCapturing(stream);
            if (capturing) {
                graphs.captured(stream, 1, launch.parameterBytes() + (long) launch.attributes() * LaunchPlan.ATTRIBUTE_BYTES, 0);
            }
            boolean loads = kernels.loads(kernel);
            long function = kernels.toLaunch(kernel, launch, capturing);
            streams.parts().place(stream, part(launch, kernel, function));
            streams.before(stream);
            if (!capturing) {
                slicing.launches(launch, kernel, stream);
            }
            int result = submit(launch, kernel, function, stream, loads);
            if (isTooLarge(result) && stream.value() != stream.whole()) {
                streams.parts().place(stream, ProcessorParts.WHOLE);
                result = submit(launch, kernel, function, stream, loads);
            }
            streams.after(stream);
            slicing.launched(launch, kernel, result, stream);
            listener.launched(stream, result);
            if (result == CudaResult.INVALID_VALUE) {
                kernel.checkRoom(function, launch.sharedBytes());
            }
            return result;
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /** Where the client's kernels are to run, or, for one whose blocks have to run at the same time and have no room there, on all processors. */
    private int part(LaunchPlan launch, Launchable kernel, long function) {
        int wanted = streams.parts().wanted();
        if (wanted == ProcessorParts.WHOLE) {
            return wanted;
        }
        boolean together = launch.isCooperative();
        boolean inClusters = false;
        for (int i = 0; i < launch.attributes(); i++) {
            int id = launch.attribute(i);
            together |= id == COOPERATIVE;
            inClusters |= id == CLUSTER_DIMENSION || id == PREFERRED_CLUSTER_DIMENSION;
        }
        return room.has(wanted, launch, kernel, function, inClusters, together) ? wanted : ProcessorParts.WHOLE;
    }

    /** Whether a part of the processors may be too small for a launch that the whole has room for. */
    private static boolean isTooLarge(int result) {
        return result == CudaResult.COOPERATIVE_LAUNCH_TOO_LARGE || result == CudaResult.INVALID_CLUSTER_SIZE
                || result == CudaResult.LAUNCH_OUT_OF_RESOURCES;
    }

    private LaunchPlan plan(MemorySegment record, int length) throws RejectedException {
        if (length < LaunchPlan.BODY) {
            throw malformed("a launch without a head");
        }
        if (plan == null || plan.record() != record) {
            plan = new LaunchPlan(record, parameters);
        }
        if (!plan.isWhole(length)) {
            throw malformed("a launch with " + plan.attributes() + " attributes and " + plan.parameterBytes() + " bytes");
        }
        return plan;
    }

    private ClientStream stream(LaunchPlan launch) throws RejectedException {
        ClientContext context = streams.context(RecordHeader.context(launch.record()));
        if (context == null) {
            throw new RejectedException(CudaResult.INVALID_CONTEXT, "no context");
        }
        ClientStream stream = streams.find(launch.stream(), context);
        if (stream == null) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no stream of the client");
        }
        return stream;
    }

    private void checkClusters(LaunchPlan launch, Launchable kernel) throws ProgramRefusedException {
        for (int i = 0; i < launch.attributes(); i++) {
            if (launch.attribute(i) == CLUSTER_DIMENSION || launch.attribute(i) == PREFERRED_CLUSTER_DIMENSION) {
                kernels.inCluster(kernel);
            }
        }
    }

    private int submit(LaunchPlan launch, Launchable kernel, long function, ClientStream stream, boolean loads) throws RejectedException {
        boolean plain = launch.attributes() == 0 && !launch.isCooperative();
        long sharedBytes = kernel.sharedBytes(function, launch.sharedBytes());
        MemorySegment arguments = plain ? plain(launch, function, sharedBytes, stream) : extended(launch, function, sharedBytes, stream);
        DriverEntry entry = plain ? DriverEntry.cuLaunchKernel : DriverEntry.cuLaunchKernelEx;
        return loads ? driver.callSynchronizing(entry, arguments) : driver.call(entry, arguments);
    }

    private MemorySegment plain(LaunchPlan launch, long function, long sharedBytes, ClientStream stream) {
        slots.setAtIndex(ValueLayout.JAVA_LONG, 0, function);
        for (int i = 0; i < 3; i++) {
            slots.setAtIndex(ValueLayout.JAVA_LONG, 1 + i, Integer.toUnsignedLong(launch.grid(i)));
            slots.setAtIndex(ValueLayout.JAVA_LONG, 4 + i, Integer.toUnsignedLong(launch.block(i)));
        }
        slots.setAtIndex(ValueLayout.JAVA_LONG, 7, sharedBytes);
        slots.setAtIndex(ValueLayout.JAVA_LONG, 8, stream.value());
        slots.setAtIndex(ValueLayout.JAVA_LONG, 10, launch.parameterBytes() == 0 ? 0 : extra.address());
        return slots;
    }

    private MemorySegment extended(LaunchPlan launch, long function, long sharedBytes, ClientStream stream) throws RejectedException {
        MemorySegment.copy(launch.record(), LaunchPlan.GRID, config, 0, CONFIG_SHARED); // grid and block lie as in the configuration
        config.set(WireTypes.U32, CONFIG_SHARED, (int) sharedBytes);
        config.set(WireTypes.U64, 32, stream.value());
        int count = launch.attributes();
        MemorySegment.copy(launch.record(), LaunchPlan.BODY, attributes, 0, (long) count * LaunchPlan.ATTRIBUTE_BYTES);
        for (int i = 0; i < count; i++) {
            attribute((long) i * LaunchPlan.ATTRIBUTE_BYTES);
        }
        if (launch.isCooperative()) {
            long at = (long) count++ * LaunchPlan.ATTRIBUTE_BYTES;
            attributes.asSlice(at, LaunchPlan.ATTRIBUTE_BYTES).fill((byte) 0);
            attributes.set(WireTypes.U32, at, COOPERATIVE);
            attributes.set(WireTypes.U32, at + 8, 1);
        }
        config.set(WireTypes.U32, 48, count);
        exSlots.setAtIndex(ValueLayout.JAVA_LONG, 1, function);
        exSlots.setAtIndex(ValueLayout.JAVA_LONG, 3, launch.parameterBytes() == 0 ? 0 : extra.address());
        return exSlots;
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
            if (address != 0 && bytes != 0 && !memory.contains(address, bytes)) {
                throw malformed("a window of " + Long.toUnsignedString(bytes) + " bytes at " + Long.toHexString(address)
                        + " is not the client's; " + memory.around(address));
            }
        }
        if (id == PROGRAMMATIC_EVENT || id == COMPLETION_EVENT) {
            long clientHandle = attributes.get(WireTypes.U64, at + 8);
            long event = handles.value(HandleKind.EVENT, clientHandle);
            if (event == HandleTable.NONE && clientHandle != 0) {
                throw new RejectedException(CudaResult.INVALID_HANDLE, "no event of the client");
            }
            attributes.set(WireTypes.U64, at + 8, event);
        }
    }

    private static RejectedException malformed(String reason) {
        return new RejectedException(CudaResult.INVALID_VALUE, reason);
    }
}
