package io.tessera.executor.call.graph;

import io.tessera.device.CudaEnums.AllocationType;
import io.tessera.device.CudaEnums.CaptureDependencies;
import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.device.CudaEnums.LocationType;
import io.tessera.device.CudaLayouts.CUDA_MEM_ALLOC_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUmemLocation;
import io.tessera.device.CudaLayouts.CUmemPoolProps;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.memory.MemoryRange.Origin;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Nodes that allocate and free memory, from structures and from captured calls. The driver's own nodes of that kind would use addresses outside the window.
 * So the driver gets empty nodes instead, and their meaning is kept in {@link GraphMemory}. One owner thread.
 */
public final class GraphMemoryCalls {
    private static final int ATTRIBUTES = 4;

    private final DriverCalls driver;
    private final GraphMemory memory;
    private final ClientMemory live;
    private final ClientCharge charge;
    private long made;

    GraphMemoryCalls(DriverCalls driver, GraphMemory memory, ClientMemory live, ClientCharge charge) {
        this.driver = driver;
        this.memory = memory;
        this.live = live;
        this.charge = charge;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuDeviceGetGraphMemAttribute).withoutContext().executes(this::attribute);
        calls.row(DriverApi.cuDeviceSetGraphMemAttribute).withoutContext().executes(this::setAttribute);
        calls.row(DriverApi.cuDeviceGraphMemTrim).withoutContext().executes((_, _) -> CudaResult.SUCCESS); // memory of ended graphs is never kept
    }

    /** Records that a graph also has the memory of another: a copy of it, or a child. */
    void partOf(long part, long whole) {
        if (!memory.isEmpty()) {
            memory.partOf(part, whole);
        }
    }

    /**
     * Makes a node that allocates.
     *
     * @param parameters CUDA_MEM_ALLOC_NODE_PARAMS, translated; the address is written there
     * @param make       makes an empty node with the call's dependencies
     * @param graph      the driver's graph
     * @throws RejectedException if it has no bytes, or the tenant's limit forbids it
     */
    int allocation(MemorySegment parameters, Maker make, long graph, ClientContext context) throws RejectedException {
        long bytes = parameters.get(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.bytesize);
        if (bytes <= 0 || !charge.take(bytes)) {
            throw new RejectedException(bytes <= 0 ? CudaResult.INVALID_VALUE : CudaResult.OUT_OF_MEMORY,
                    "a node that allocates " + bytes + " bytes");
        }
        int result = uncharged(parameters, make, graph);
        if (result == CudaResult.SUCCESS) {
            live.add(new MemoryRange(parameters.get(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.dptr), bytes, Origin.GRAPH,
                    context == null ? 0 : context.number(), bytes, 0));
        } else {
            charge.giveBack(bytes);
        }
        return result;
    }

    private int uncharged(MemorySegment parameters, Maker make, long graph) throws RejectedException {
        long bytes = parameters.get(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.bytesize);
        long address = memory.allocate(bytes);
        int result = address == 0 ? CudaResult.OUT_OF_MEMORY : make.node();
        if (result != CudaResult.SUCCESS) {
            if (address != 0) {
                memory.abandon(address);
            }
            return result;
        }
        parameters.set(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.dptr, address);
        byte[] kept = parameters.asSlice(0, CUDA_MEM_ALLOC_NODE_PARAMS.BYTES).toArray(ValueLayout.JAVA_BYTE);
        memory.allocates(graph, made, address, bytes, kept);
        return result;
    }

    /** Makes a node; {@link #made} returns it afterwards. */
    @FunctionalInterface
    interface Maker {
        int node();
    }

    /** Returns a maker for a call whose first output is the node that it has made. */
    Maker maker(CallFrame frame, DriverEntry entry) {
        return () -> {
            int result = driver.call(entry, frame.slots());
            made = frame.data(0).get(WireTypes.U64, 0);
            return result;
        };
    }

    /** Parameters: node, graph, dependencies, their number, address. */
    int freeNode(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        return frees(frame.slot(4), maker(frame, DriverEntry.cuGraphAddEmptyNode));
    }

    /** Makes a node that frees. */
    int frees(long address, Maker make) throws RejectedException {
        if (!memory.isOfGraph(address)) {
            throw CallFrame.malformed("a node frees what no node has allocated");
        }
        int result = make.node();
        if (result == CudaResult.SUCCESS) {
            memory.frees(made, address);
        }
        return result;
    }

    /** Returns the type of a node, which is an empty one in the driver if it allocates or frees memory. */
    int typeOf(long node, int type) {
        return type != GraphNodeType.EMPTY ? type : memory.allocationOf(node) != null ? GraphNodeType.MEM_ALLOC
                : memory.freedBy(node) != 0 ? GraphNodeType.MEM_FREE : type;
    }

    /** Parameters: node, address. */
    int freeParameters(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(1, Long.BYTES);
        long address = memory.freedBy(frame.slot(0));
        frame.data(1).set(WireTypes.U64, 0, address);
        return address == 0 ? CudaResult.INVALID_VALUE : CudaResult.SUCCESS;
    }

    /** Parameters: device, attribute, value. */
    private int attribute(CallFrame frame, ClientContext context) throws RejectedException {
        int attribute = (int) frame.slot(1);
        if (attribute < 0 || attribute >= ATTRIBUTES || frame.data(2) == null) {
            throw CallFrame.malformed("attribute " + attribute + " of graphs' memory");
        }
        frame.data(2).set(WireTypes.U64, 0, memory.attribute(attribute));
        return CudaResult.SUCCESS;
    }

    /** Parameters: device, attribute, value. */
    private int setAttribute(CallFrame frame, ClientContext context) throws RejectedException {
        if (!memory.attribute((int) frame.slot(1), frame.required(2).get(WireTypes.U64, 0))) {
            throw CallFrame.malformed("attribute " + frame.slot(1) + " of graphs' memory cannot be set so");
        }
        return CudaResult.SUCCESS;
    }

    /** Parameters: executable graph, stream. */
    int launch(CallFrame frame, ClientContext context) throws RejectedException {
        if (!memory.isEmpty() && !memory.mayLaunch(frame.slot(0))) {
            throw CallFrame.malformed("a graph allocates what is allocated");
        }
        int result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS && !memory.isEmpty()) {
            memory.launched(frame.slot(0));
        }
        return result;
    }

    /**
     * Makes an allocation in a captured stream: a node behind the work that the stream has captured so far. Returns a CUresult.
     *
     * @throws RejectedException if the call has no memory for it
     */
    public int captured(CallFrame frame, long stream, long bytes) throws RejectedException {
        MemorySegment parameters = frame.room(CUDA_MEM_ALLOC_NODE_PARAMS.BYTES);
        parameters.set(WireTypes.U32, CUDA_MEM_ALLOC_NODE_PARAMS.poolProps + CUmemPoolProps.allocType, AllocationType.PINNED);
        parameters.set(WireTypes.U32, CUDA_MEM_ALLOC_NODE_PARAMS.poolProps + CUmemPoolProps.location + CUmemLocation.type, LocationType.DEVICE);
        parameters.set(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.bytesize, bytes);
        long graph = graphOf(stream);
        // The call itself was charged, and makes the memory the client's, as for any allocation.
        int result = uncharged(parameters, () -> append(stream), graph);
        frame.data(0).set(WireTypes.U64, 0, result == CudaResult.SUCCESS ? parameters.get(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.dptr) : 0);
        return result;
    }

    /**
     * Makes a free in a captured stream. Returns a CUresult.
     *
     * @throws RejectedException if no node has allocated the memory
     */
    public int freedInCapture(long address, long stream) throws RejectedException {
        return frees(address, () -> append(stream));
    }

    private long graphOf(long stream) {
        int result = driver.call(DriverEntry.cuStreamGetCaptureInfo_v2, stream, driver.out(0), driver.out(1),
                driver.out(2), driver.out(3), driver.out(4));
        return result == CudaResult.SUCCESS ? driver.outLong(2) : HandleTable.NONE;
    }

    /** Adds an empty node to what a stream captures, behind all that it has captured. */
    private int append(long stream) {
        long graph = graphOf(stream);
        if (graph == HandleTable.NONE) {
            return CudaResult.STREAM_CAPTURE_INVALIDATED;
        }
        long dependencies = driver.outLong(3);
        long count = driver.outLong(4);
        int result = driver.call(DriverEntry.cuGraphAddEmptyNode, driver.out(5), graph, dependencies, count);
        if (result == CudaResult.SUCCESS) {
            made = driver.outLong(5);
            MemorySegment nodes = driver.outMemory();
            result = driver.call(DriverEntry.cuStreamUpdateCaptureDependencies, stream,
                    nodes.address() + 5L * Long.BYTES, 1, CaptureDependencies.SET_CAPTURE_DEPENDENCIES);
        }
        return result;
    }

    /** Parameters: stream, graph. A capture that fails leaves no graph, and no memory of it. */
    int endCapture(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(1, Long.BYTES);
        long graph = memory.isEmpty() ? HandleTable.NONE : graphOf(frame.slot(0));
        int result = driver.call(frame.entry(), frame.slots());
        if (graph != HandleTable.NONE
                && (result != CudaResult.SUCCESS || frame.data(1).get(WireTypes.U64, 0) != graph)) {
            memory.graphGone(graph);
        }
        return result;
    }
}
