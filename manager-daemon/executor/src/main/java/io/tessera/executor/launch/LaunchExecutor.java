package io.tessera.executor.launch;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaEnums.LaunchAttributeId;
import io.tessera.device.CudaEnums.LaunchParameter;
import io.tessera.device.CudaLayouts.CUaccessPolicyWindow;
import io.tessera.device.CudaLayouts.CUlaunchAttribute;
import io.tessera.device.CudaLayouts.CUlaunchConfig;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.GridBound;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.graph.GraphBook;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.ClientKernels;
import io.tessera.executor.fence.LaunchPlan;
import io.tessera.executor.fence.Launchable;
import io.tessera.executor.fence.hang.Watchdog;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.memory.ClientCharge;
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
    /** Maximum number of attributes: those of the record, and one of the executor's. */
    private static final int MOST_ATTRIBUTES = 65;

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
    private final ReplayedLaunch replayed;
    private final Watchdog watchdog;
    private final NanoClock clock;
    private final LaunchResult result = new LaunchResult();
    private LaunchPlan plan;

    /** Creates an instance for one client; memory of an arena that lives as long as this. */
    public LaunchExecutor(DriverCalls driver, ClientHandles handles, ClientStreams streams, ClientMemory memory, ClientCharge charge,
            ClientFences fences, GraphBook graphs, NanoClock clock, Arena arena) {
        this.driver = driver;
        this.handles = handles;
        this.streams = streams;
        this.memory = memory;
        this.kernels = fences.kernels();
        this.watchdog = fences.watchdog();
        this.graphs = graphs;
        this.clock = clock;
        this.room = new PartRoom(kernels, streams.parts().processors());
        this.slicing = new GridSlicing(streams, kernels, driver, clock, arena.allocate(RelayLayout.RECORD_MAX, 64));
        this.replayed = new ReplayedLaunch(streams, fences, memory, charge, driver, clock, arena.allocate(RelayLayout.RECORD_MAX, 64));
        this.slots = arena.allocate(11L * Long.BYTES, Long.BYTES);
        this.exSlots = arena.allocate(4L * Long.BYTES, Long.BYTES);
        this.config = arena.allocate(CUlaunchConfig.BYTES, Long.BYTES);
        this.attributes = arena.allocate((long) CUlaunchAttribute.BYTES * MOST_ATTRIBUTES, 64);
        this.size = arena.allocate(Long.BYTES, Long.BYTES);
        this.parameters = arena.allocate(RelayLayout.RECORD_MAX + Long.BYTES + GridSlices.PARAMETER_BYTES, 64);
        this.extra = arena.allocate(5L * Long.BYTES, Long.BYTES);
        extra.setAtIndex(ValueLayout.JAVA_LONG, 0, LaunchParameter.BUFFER_POINTER_AS_INT);
        extra.setAtIndex(ValueLayout.JAVA_LONG, 1, parameters.address());
        extra.setAtIndex(ValueLayout.JAVA_LONG, 2, LaunchParameter.BUFFER_SIZE_AS_INT);
        extra.setAtIndex(ValueLayout.JAVA_LONG, 3, size.address());
        slots.setAtIndex(ValueLayout.JAVA_LONG, 10, extra.address());
        exSlots.setAtIndex(ValueLayout.JAVA_LONG, 0, config.address());
        exSlots.setAtIndex(ValueLayout.JAVA_LONG, 3, extra.address());
        config.set(WireTypes.U64, CUlaunchConfig.attrs, attributes.address());
    }

    /**
     * Returns whether the next record is a launch that may be presented several times ({@link #comesAgain}): in parts of its grid, or so that it can be
     * stopped. If it is not, a launch that is still open is given up.
     */
    public boolean mayTakeLong(MemorySegment record, int length) {
        if (RecordHeader.kind(record) != RecordKind.LAUNCH.code()) {
            slicing.other();
            replayed.other();
            return false;
        }
        try {
            LaunchPlan launch = plan(record, length);
            boolean may = isForParts(launch) || replayed.mayTake(launch);
            if (may) {
                GridBound.check(record, LaunchPlan.GRID);
            }
            return may;
        } catch (RejectedException e) {
            return false; // the user learns of it when the record is taken
        }
    }

    private boolean isForParts(LaunchPlan launch) {
        return kernels.comeInParts() && GridSlicing.isLarge(launch);
    }

    /**
     * Does of such a launch what can be done now. The result says whether the record has to be presented again.
     *
     * @return an object that the next record overwrites
     */
    public LaunchResult comesAgain(MemorySegment record, int length) {
        result.clear();
        LaunchPlan launch = plan;
        ClientContext context = streams.context(RecordHeader.context(record));
        ClientStream stream = context == null ? null : streams.find(launch.stream(), context);
        if (!replayed.isOpen() && isForParts(launch)) {
            boolean again = slicing.comesAgain(launch, length, stream, (part, into) -> launchPart(launch, part, into));
            if (again || slicing.isLaunched()) {
                return result.unfinished(again); // a grid in parts leaves the device at the end of each part
            }
        }
        return result.unfinished(replayed.comesAgain(launch, length, stream, (kernel, into) -> launchWhole(launch, kernel, into)));
    }

    /** Returns whether a launch is in progress whose record is to come again. */
    public boolean isLaunching() {
        return slicing.isOpen() || replayed.isOpen();
    }

    /** Gives back what unfinished launches have; the client's work is done. */
    public void close() {
        slicing.close();
        replayed.close();
    }

    /** Launches a whole grid with its fences, so that it looks at the stop word. */
    private int launchWhole(LaunchPlan launch, Launchable kernel, ClientStream stream) throws ProgramRefusedException, RejectedException {
        give(launch);
        boolean loads = kernels.loads(kernel);
        long function = kernels.toLaunch(kernel, launch, true);
        place(launch, kernel, function, stream);
        slicing.launches(launch, kernel, stream);
        int status = submitPlaced(launch, kernel, function, stream, loads);
        slicing.launched(launch, kernel, status, stream); // a large grid is launched in parts as soon as it is known to take long
        launched(stream, status, false);
        return status;
    }

    /** Copies the parameters to where the driver reads them. */
    private void give(LaunchPlan launch) {
        MemorySegment.copy(launch.record(), launch.parametersAt(), parameters, 0, launch.parameterBytes());
        size.set(WireTypes.U64, 0, launch.parameterBytes());
    }

    /** Moves a stream to the part of the processors that a launch in it shall run on, and orders it behind what it waits for. */
    private void place(LaunchPlan launch, Launchable kernel, long function, ClientStream stream) {
        streams.parts().place(stream, part(launch, kernel, function));
        streams.before(stream);
    }

    /** Launches in a placed stream, and on all processors if the launch does not fit on the part. */
    private int submitPlaced(LaunchPlan launch, Launchable kernel, long function, ClientStream stream, boolean loads) throws RejectedException {
        int status = submit(launch, kernel, function, stream, loads);
        if (isTooLarge(status) && stream.value() != stream.whole()) {
            streams.parts().place(stream, ProcessorParts.WHOLE);
            status = submit(launch, kernel, function, stream, loads);
        }
        streams.after(stream);
        return status;
    }

    private int launchPart(LaunchPlan launch, GridParts part, ClientStream stream) throws ProgramRefusedException {
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
        int status = kernels.loadsPart(kernel) ? driver.callSynchronizing(DriverEntry.cuLaunchKernel, slots)
                : driver.call(DriverEntry.cuLaunchKernel, slots);
        streams.after(stream);
        launched(stream, status, false);
        return status;
    }

    /** Records that the driver was called to launch. */
    private void launched(ClientStream stream, int status, boolean captured) {
        result.launched(stream, status, clock.nanoTime());
        if (status == CudaResult.SUCCESS && !captured) {
            watchdog.launched(stream.value(), result.returnedNs());
        }
    }

    /**
     * Launches.
     *
     * @return an object that the next record overwrites
     * @throws RejectedException if the record is not one that a client may send
     */
    public LaunchResult launch(MemorySegment record, int length) throws RejectedException {
        result.clear();
        LaunchPlan launch = plan(record, length);
        try {
            if (slicing.taken(record, length)) {
                return result.answered(slicing.result());
            }
            if (replayed.taken(record, length)) {
                return result.answered(replayed.result());
            }
            Launchable kernel = kernels.launchable(launch.function());
            if (kernel == null) {
                throw new RejectedException(CudaResult.INVALID_HANDLE, "no kernel of the client");
            }
            ClientStream stream = stream(launch);
            GridBound.check(record, LaunchPlan.GRID);
            give(launch);
            checkClusters(launch, kernel);
            boolean capturing = streams.isCapturing(stream);
            if (capturing) {
                graphs.captured(stream, 1, launch.parameterBytes() + (long) launch.attributes() * CUlaunchAttribute.BYTES, 0);
            }
            handles.deferredReleases().naming(capturing);
            boolean loads = kernels.loads(kernel);
            long function = kernels.toLaunch(kernel, launch, capturing);
            place(launch, kernel, function, stream);
            if (!capturing) {
                slicing.launches(launch, kernel, stream);
            }
            int status = submitPlaced(launch, kernel, function, stream, loads);
            slicing.launched(launch, kernel, status, stream);
            launched(stream, status, capturing);
            if (status == CudaResult.INVALID_VALUE) {
                kernel.checkRoom(function, launch.sharedBytes());
            }
            return result;
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /**
     * Returns the part of the processors on which a launch runs: the client's part, or all processors if the blocks have to run at the same time and do not fit
     * there.
     */
    private int part(LaunchPlan launch, Launchable kernel, long function) {
        int wanted = streams.parts().wanted();
        if (wanted == ProcessorParts.WHOLE) {
            return wanted;
        }
        boolean together = launch.isCooperative();
        boolean inClusters = false;
        for (int i = 0; i < launch.attributes(); i++) {
            int id = launch.attribute(i);
            together |= id == LaunchAttributeId.COOPERATIVE;
            inClusters |= id == LaunchAttributeId.CLUSTER_DIMENSION || id == LaunchAttributeId.PREFERRED_CLUSTER_DIMENSION;
        }
        return room.has(wanted, launch, kernel, function, inClusters, together) ? wanted : ProcessorParts.WHOLE;
    }

    /** Returns whether a result may mean that a launch fits on all processors, but not on a part of them. */
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
            if (launch.attribute(i) == LaunchAttributeId.CLUSTER_DIMENSION || launch.attribute(i) == LaunchAttributeId.PREFERRED_CLUSTER_DIMENSION) {
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
        MemorySegment.copy(launch.record(), LaunchPlan.GRID, config, 0, CUlaunchConfig.sharedMemBytes); // grid and block have the configuration's layout
        config.set(WireTypes.U32, CUlaunchConfig.sharedMemBytes, (int) sharedBytes);
        config.set(WireTypes.U64, CUlaunchConfig.hStream, stream.value());
        int count = launch.attributes();
        MemorySegment.copy(launch.record(), LaunchPlan.BODY, attributes, 0, (long) count * CUlaunchAttribute.BYTES);
        for (int i = 0; i < count; i++) {
            attribute((long) i * CUlaunchAttribute.BYTES);
        }
        if (launch.isCooperative()) {
            long at = (long) count++ * CUlaunchAttribute.BYTES;
            attributes.asSlice(at, CUlaunchAttribute.BYTES).fill((byte) 0);
            attributes.set(WireTypes.U32, at, LaunchAttributeId.COOPERATIVE);
            attributes.set(WireTypes.U32, at + CUlaunchAttribute.value, 1);
        }
        config.set(WireTypes.U32, CUlaunchConfig.numAttrs, count);
        exSlots.setAtIndex(ValueLayout.JAVA_LONG, 1, function);
        exSlots.setAtIndex(ValueLayout.JAVA_LONG, 3, launch.parameterBytes() == 0 ? 0 : extra.address());
        return exSlots;
    }

    /** Checks an attribute. Events in attributes are handles. Nodes that the device updates are refused, because the program would get the driver's handle. */
    private void attribute(long at) throws RejectedException {
        int id = attributes.get(WireTypes.U32, at);
        if (id == LaunchAttributeId.DEVICE_UPDATABLE_KERNEL_NODE) {
            throw RejectedException.unsupported("a kernel node that the device may change");
        }
        if (id == LaunchAttributeId.ACCESS_POLICY_WINDOW) {
            long address = attributes.get(WireTypes.U64, at + CUlaunchAttribute.value + CUaccessPolicyWindow.base_ptr);
            long bytes = attributes.get(WireTypes.U64, at + CUlaunchAttribute.value + CUaccessPolicyWindow.num_bytes);
            if (address != 0 && bytes != 0 && !memory.contains(address, bytes)) {
                throw malformed("a window of " + Long.toUnsignedString(bytes) + " bytes at " + Long.toHexString(address)
                        + " is not the client's; " + memory.around(address));
            }
        }
        if (id == LaunchAttributeId.PROGRAMMATIC_EVENT || id == LaunchAttributeId.LAUNCH_COMPLETION_EVENT) {
            long clientHandle = attributes.get(WireTypes.U64, at + CUlaunchAttribute.value);
            long event = handles.value(HandleKind.EVENT, clientHandle);
            if (event == HandleTable.NONE && clientHandle != 0) {
                throw new RejectedException(CudaResult.INVALID_HANDLE, "no event of the client");
            }
            attributes.set(WireTypes.U64, at + CUlaunchAttribute.value, event);
        }
    }

    private static RejectedException malformed(String reason) {
        return new RejectedException(CudaResult.INVALID_VALUE, reason);
    }
}
