package io.tessera.executor.call;

import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.pool.ClientPools;
import io.tessera.executor.pool.MemoryPool;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.protocol.WireTypes;
import java.util.Map;

/**
 * Device memory of the program, from its tenant's window: no call here reaches the driver unless the window has to grow.
 * What is the client's and what it costs is kept in {@link MemoryCalls}. One owner thread.
 */
final class AllocationCalls {
    /** Rows begin at multiples of it, as with the driver: good for textures and for coalesced access. */
    private static final long PITCH = 512;
    private static final long MOST_PITCH = Integer.MAX_VALUE & -PITCH;

    private final ClientState client;
    private final ClientPools pools;
    private final PoolCalls poolCalls;
    private final GraphMemoryCalls graphs;

    AllocationCalls(ClientState client, PoolCalls poolCalls, GraphMemoryCalls graphs) {
        this.client = client;
        this.pools = client.pools();
        this.poolCalls = poolCalls;
        this.graphs = graphs;
    }

    /** Enters the calls. */
    void register(Map<String, SpecialCall> calls) {
        calls.put("cuMemAlloc", this::allocate);
        calls.put("cuMemAllocPitch", this::pitched);
        calls.put("cuMemFree", this::free);
        calls.put("cuMemAllocAsync", (frame, context) -> ordered(frame, context, frame.slot(2), null));
        calls.put("cuMemAllocFromPoolAsync",
                (frame, context) -> ordered(frame, context, frame.slot(3), poolCalls.pool(frame.slot(2))));
        calls.put("cuMemFreeAsync", this::freeOrdered);
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

    /**
     * Parameter: address. Memory of a graph stays the graph's. NOT_READY: it is freed when the client's work is done, which
     * the client waits for if it likes.
     */
    private int free(CallFrame frame, ClientContext context) {
        long address = frame.slot(0);
        if (address != 0 && client.graphMemory().isOfGraph(address)) {
            return client.graphMemory().free(address) ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
        }
        if (isKept(address)) {
            return client.streams().query() == CudaResult.SUCCESS ? CudaResult.SUCCESS : CudaResult.NOT_READY;
        }
        return address == 0 || pools.free(address) ? CudaResult.SUCCESS : CudaResult.NOT_READY;
    }

    /** First parameters: address, bytes. While the stream is captured it is a graph that allocates. */
    private int ordered(CallFrame frame, ClientContext context, long stream, MemoryPool named)
            throws RejectedException {
        frame.want(0, Long.BYTES);
        long bytes = frame.slot(1);
        if (bytes == 0) {
            return CudaResult.SUCCESS; // and no address, as with the driver
        }
        ClientStream own = client.streams().ofValue(stream, context);
        if (own != null && client.streams().isCapturing(own)) {
            return graphs.captured(frame, stream, bytes);
        }
        MemoryPool pool = named == null ? poolCalls.current() : named;
        return answer(frame, pools.allocate(pool, bytes, stream));
    }

    /** Parameters: address, stream. */
    private int freeOrdered(CallFrame frame, ClientContext context) throws RejectedException {
        long address = frame.slot(0);
        long stream = frame.slot(1);
        if (address == 0) {
            throw CallFrame.malformed("address 0 is freed in a stream");
        }
        ClientStream own = client.streams().ofValue(stream, context);
        if (own != null && client.streams().isCapturing(own)) {
            return graphs.freedInCapture(address, stream);
        }
        if (client.graphMemory().isOfGraph(address)) {
            return client.graphMemory().free(address) ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
        }
        if (!isKept(address)) {
            pools.free(address, stream);
        }
        return CudaResult.SUCCESS;
    }

    /** Whether others have the memory open by an IPC handle. */
    private boolean isKept(long address) {
        return client.memory().beginningAt(address).filter(client.exports()::keeps).isPresent();
    }
}
