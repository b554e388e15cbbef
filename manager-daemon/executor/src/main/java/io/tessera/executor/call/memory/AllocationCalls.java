package io.tessera.executor.call.memory;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.executor.call.AddressRule;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.graph.GraphMemoryCalls;
import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.memory.MemoryRange.Origin;
import io.tessera.executor.pool.ClientPools;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.pool.MemoryPool;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.protocol.WireTypes;

/**
 * Device memory of the program, from its tenant's window: no call of this family reaches the driver unless the window has to grow. Each allocation is charged
 * to the tenant before it is made, and enters the client's table of live memory, or leaves it, afterwards. One owner thread.
 */
final class AllocationCalls {
    /** Alignment of rows, as with the driver: suitable for textures and for coalesced access. */
    private static final long PITCH = 512;
    private static final long MOST_PITCH = Integer.MAX_VALUE & -PITCH;

    private final ClientMemory memory;
    private final ClientStreams streams;
    private final ClientPools pools;
    private final GraphMemory graphMemory;
    private final ClientExports exports;
    private final PoolCalls poolCalls;
    private final GraphMemoryCalls graphs;
    private final AllocationCharge charge;
    /** The memory that the call in progress frees; null: none. */
    private MemoryRange found;

    AllocationCalls(ClientAllocations allocations, ClientStreams streams, PoolCalls poolCalls, GraphMemoryCalls graphs, AllocationCharge charge) {
        this.memory = allocations.memory();
        this.streams = streams;
        this.pools = allocations.pools();
        this.graphMemory = allocations.graphMemory();
        this.exports = allocations.exports();
        this.poolCalls = poolCalls;
        this.graphs = graphs;
        this.charge = charge;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuMemAlloc).makesMemory().prepares(frame -> charge.take(frame.slot(1))).executes(this::allocate)
                .completes(this::allocated);
        calls.row(DriverApi.cuMemAllocPitch).makesMemory().prepares(frame -> charge.take(frame.slot(2), frame.slot(3))).executes(this::pitched)
                .completes(this::pitchedAllocated);
        calls.row(DriverApi.cuMemAllocAsync).makesMemory().prepares(frame -> charge.take(frame.slot(1)))
                .executes((frame, context) -> ordered(frame, context, frame.slot(2), null)).completes(this::orderedAllocated);
        calls.row(DriverApi.cuMemAllocFromPoolAsync).makesMemory().prepares(frame -> charge.take(frame.slot(1)))
                .executes((frame, context) -> ordered(frame, context, frame.slot(3), poolCalls.pool(frame.slot(2))))
                .completes(this::orderedAllocated);
        calls.row(DriverApi.cuMemFree).spans(AddressRule.IN_CALL).prepares(this::find).executes(this::free)
                .completes((_, result) -> freed(result == CudaResult.SUCCESS || result == CudaResult.NOT_READY));
        calls.row(DriverApi.cuMemFreeAsync).spans(AddressRule.IN_CALL).prepares(this::find).executes(this::freeOrdered)
                .completes((_, result) -> freed(result == CudaResult.SUCCESS));
        calls.plain(DriverApi.cuPointerGetAttribute, DriverApi.cuPointerSetAttribute);
    }

    private static int answer(CallFrame frame, long address) {
        frame.data(0).set(WireTypes.U64, 0, address);
        return address == 0 ? CudaResult.OUT_OF_MEMORY : CudaResult.SUCCESS;
    }

    /** Parameters: address, bytes. */
    private int allocate(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        if (frame.slot(1) == 0) {
            throw CallFrame.malformed("an allocation of no bytes");
        }
        return answer(frame, pools.allocate(frame.slot(1)));
    }

    private void allocated(CallFrame frame, int result) {
        made(frame, result, frame.slot(1), Origin.ALLOCATED);
    }

    /** Parameters: address, pitch, width, height, bytes of an element. */
    private int pitched(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        frame.want(1, Long.BYTES);
        long width = frame.slot(2);
        long height = frame.slot(3);
        long element = frame.slot(4);
        if (width <= 0 || height <= 0 || width > MOST_PITCH || element != 4 && element != 8 && element != 16) {
            throw CallFrame.malformed(width + " x " + height + " elements of " + element + " bytes");
        }
        long pitch = width + PITCH - 1 & -PITCH;
        if (height > Long.MAX_VALUE / pitch) {
            return CudaResult.OUT_OF_MEMORY;
        }
        frame.data(1).set(WireTypes.U64, 0, pitch);
        return answer(frame, pools.allocate(pitch * height));
    }

    private void pitchedAllocated(CallFrame frame, int result) {
        long bytes = result == CudaResult.SUCCESS ? frame.data(1).get(WireTypes.U64, 0) * frame.slot(3) : 0;
        made(frame, result, Math.max(bytes, charge.taken()), Origin.ALLOCATED);
    }

    /** First parameters: address, bytes. In a captured stream the graph allocates. */
    private int ordered(CallFrame frame, ClientContext context, long stream, MemoryPool named)
            throws RejectedException {
        frame.want(0, Long.BYTES);
        long bytes = frame.slot(1);
        if (bytes == 0) {
            return CudaResult.SUCCESS; // without an address, as with the driver
        }
        ClientStream own = streams.ofValue(stream, context);
        if (own != null && streams.isCapturing(own)) {
            return graphs.captured(frame, stream, bytes);
        }
        MemoryPool pool = named == null ? poolCalls.current() : named;
        return answer(frame, pools.allocate(pool, bytes, stream));
    }

    private void orderedAllocated(CallFrame frame, int result) {
        boolean ofGraph = result == CudaResult.SUCCESS && graphMemory.isOfGraph(frame.data(0).get(WireTypes.U64, 0));
        made(frame, result, frame.slot(1), ofGraph ? Origin.GRAPH : Origin.POOLED);
    }

    private void made(CallFrame frame, int result, long bytes, Origin origin) {
        if (result != CudaResult.SUCCESS) {
            charge.giveBack();
        } else if (frame.data(0).get(WireTypes.U64, 0) != 0) { // 0: an allocation of nothing
            memory.add(new MemoryRange(frame.data(0).get(WireTypes.U64, 0), Math.max(1, bytes), origin, frame.contextNumber(), charge.taken(), 0));
        }
    }

    /** Finds what the call frees. First parameter: address. */
    private void find(CallFrame frame) throws RejectedException {
        long address = frame.slot(0);
        found = memory.beginningAt(address).orElse(null);
        boolean fits = found != null && (found.origin() == Origin.POOLED
                || found.origin() == Origin.GRAPH || found.origin() == Origin.ALLOCATED);
        if (!fits && address != 0) {
            throw CallFrame.malformed("no allocation of the client begins there");
        }
    }

    /**
     * Parameter: address. Memory of a graph stays the graph's. NOT_READY: it is freed when the client's work is done; the
     * client may wait for that.
     */
    private int free(CallFrame frame, ClientContext context) {
        long address = frame.slot(0);
        if (address != 0 && graphMemory.isOfGraph(address)) {
            return graphMemory.free(address) ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
        }
        if (isKept(address)) {
            return streams.query() == CudaResult.SUCCESS ? CudaResult.SUCCESS : CudaResult.NOT_READY;
        }
        return address == 0 || pools.free(address) ? CudaResult.SUCCESS : CudaResult.NOT_READY;
    }

    /** Parameters: address, stream. */
    private int freeOrdered(CallFrame frame, ClientContext context) throws RejectedException {
        long address = frame.slot(0);
        long stream = frame.slot(1);
        if (address == 0) {
            throw CallFrame.malformed("address 0 is freed in a stream");
        }
        ClientStream own = streams.ofValue(stream, context);
        if (own != null && streams.isCapturing(own)) {
            return graphs.freedInCapture(address, stream);
        }
        if (graphMemory.isOfGraph(address)) {
            return graphMemory.free(address) ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
        }
        if (!isKept(address)) {
            pools.free(address, stream);
        }
        return CudaResult.SUCCESS;
    }

    private void freed(boolean done) {
        if (done && found != null && found.origin() != Origin.GRAPH) { // a graph's allocation ends with the graph
            memory.remove(found);
            charge.giveBack(found.charged());
        }
    }

    /** Returns whether other clients have the memory open through an IPC handle. */
    private boolean isKept(long address) {
        return memory.beginningAt(address).filter(exports::keeps).isPresent();
    }
}
