package io.tessera.executor.call.graph;

import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.device.CudaLayouts.CUDA_BATCH_MEM_OP_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_HOST_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_KERNEL_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_MEMCPY3D;
import io.tessera.device.CudaLayouts.CUDA_MEM_ALLOC_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUstreamBatchMemOpParams;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.device.MemoryType;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.HandleResults;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Entries that query nodes of graphs; data behind the driver's pointers follows the structure. One owner thread. */
final class NodeQueries {
    private final DriverCalls driver;
    private final GraphMemory graphMemory;
    private final NodeStructures nodes;
    private final GraphMemoryCalls memory;
    private final HandleResults results;

    NodeQueries(DriverCalls driver, GraphMemory graphMemory, NodeStructures nodes, GraphMemoryCalls memory, HandleResults results) {
        this.driver = driver;
        this.graphMemory = graphMemory;
        this.nodes = nodes;
        this.memory = memory;
        this.results = results;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuGraphNodeGetType).ofGraphs().executes(this::type);
        calls.row(DriverApi.cuGraphKernelNodeGetParams).ofGraphs().packed("nodeParams").executes(this::kernel);
        calls.row(DriverApi.cuGraphMemcpyNodeGetParams).ofGraphs().executes(this::copy);
        calls.row(DriverApi.cuGraphHostNodeGetParams).ofGraphs().packed("nodeParams").executes(this::host);
        calls.row(DriverApi.cuGraphBatchMemOpNodeGetParams).ofGraphs().packed("nodeParams_out").executes(this::operations);
        calls.row(DriverApi.cuGraphMemAllocNodeGetParams).ofGraphs().packed("params_out").executes(this::allocation);
        calls.row(DriverApi.cuGraphMemFreeNodeGetParams).ofGraphs().executes(memory::freeParameters);
        calls.row(DriverApi.cuGraphEventRecordNodeGetEvent).ofGraphs().namesOnly();
        calls.row(DriverApi.cuGraphEventWaitNodeGetEvent).ofGraphs().namesOnly();
        for (DriverApi api : List.of(DriverApi.cuGraphMemsetNodeGetParams, DriverApi.cuGraphKernelNodeGetAttribute, DriverApi.cuGraphNodeGetEnabled,
                DriverApi.cuGraphNodeGetDependencies, DriverApi.cuGraphNodeGetDependentNodes, DriverApi.cuGraphNodeFindInClone)) {
            calls.row(api).ofGraphs();
        }
    }

    /** Returns the answer for the client, without its own input: pointers in it are the driver's. All queries have the node first and the structure second. */
    private static MemorySegment wanted(CallFrame frame, int bytes) throws RejectedException {
        if (frame.data(1) == null || frame.outBytes(1) < bytes) {
            throw CallFrame.malformed("too little room for a node");
        }
        return frame.data(1).fill((byte) 0);
    }

    private int type(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment type = wanted(frame, Integer.BYTES);
        int result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS && type.get(WireTypes.U32, 0) == GraphNodeType.BATCH_MEM_OP
                && word(frame) >= 0) {
            type.set(WireTypes.U32, 0, GraphNodeType.HOST);
        } else if (result == CudaResult.SUCCESS) {
            type.set(WireTypes.U32, 0, memory.typeOf(frame.slot(0), type.get(WireTypes.U32, 0)));
        }
        return result;
    }

    /** Returns the word of a host node; -1: it is none. */
    private long word(CallFrame frame) throws RejectedException {
        MemorySegment node = frame.room(CUDA_BATCH_MEM_OP_NODE_PARAMS.BYTES);
        int result = driver.call(DriverEntry.cuGraphBatchMemOpNodeGetParams, frame.slot(0), node.address());
        return result == CudaResult.SUCCESS ? nodes.wordOf(node) : -1;
    }

    private int host(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment wanted = wanted(frame, CUDA_HOST_NODE_PARAMS.BYTES);
        long word = word(frame);
        wanted.set(WireTypes.U64, CUDA_HOST_NODE_PARAMS.fn, 0);
        wanted.set(WireTypes.U64, CUDA_HOST_NODE_PARAMS.userData, Math.max(0, word));
        return word < 0 ? CudaResult.INVALID_VALUE : CudaResult.SUCCESS;
    }

    private int kernel(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment wanted = wanted(frame, CUDA_KERNEL_NODE_PARAMS.BYTES);
        int result = driver.call(DriverEntry.cuGraphKernelNodeGetParams_v2, frame.slots());
        if (result != CudaResult.SUCCESS) {
            wanted.fill((byte) 0);
            return result;
        }
        long function = wanted.get(WireTypes.U64, CUDA_KERNEL_NODE_PARAMS.func);
        long kernel = wanted.get(WireTypes.U64, CUDA_KERNEL_NODE_PARAMS.kern);
        long array = wanted.get(WireTypes.U64, CUDA_KERNEL_NODE_PARAMS.kernelParams);
        if (function == 0 && kernel != 0
                && driver.call(DriverEntry.cuKernelGetFunction, driver.out(0), kernel) == CudaResult.SUCCESS) {
            function = driver.outLong(0);
        }
        wanted.asSlice(CUDA_KERNEL_NODE_PARAMS.BYTES).fill((byte) 0);
        if (array != 0) {
            parameters(function, array, wanted.asSlice(CUDA_KERNEL_NODE_PARAMS.BYTES));
        }
        long clientHandle = results.function(function, kernel, frame.contextNumber());
        nodes.asked(clientHandle, function, wanted);
        wanted.set(WireTypes.U64, CUDA_KERNEL_NODE_PARAMS.func, clientHandle);
        for (int pointer : new int[] {CUDA_KERNEL_NODE_PARAMS.kernelParams, CUDA_KERNEL_NODE_PARAMS.extra, CUDA_KERNEL_NODE_PARAMS.kern,
                CUDA_KERNEL_NODE_PARAMS.ctx}) {
            wanted.set(WireTypes.U64, pointer, 0);
        }
        return result;
    }

    /** Packs the data behind an array of pointers, each as long as its parameter. */
    private void parameters(long function, long array, MemorySegment packed) {
        for (int i = 0; driver.call(DriverEntry.cuFuncGetParamInfo, function, i, driver.out(0), driver.out(1)) == 0; i++) {
            long offset = driver.outLong(0);
            long size = driver.outLong(1);
            MemorySegment pointer = MemorySegment.ofAddress(array + (long) i * Long.BYTES).reinterpret(Long.BYTES);
            if (offset < 0 || size < 0 || offset + size > packed.byteSize()) {
                return; // more than any kernel has
            }
            MemorySegment.copy(MemorySegment.ofAddress(pointer.get(WireTypes.U64, 0)).reinterpret(size), 0, packed,
                    offset, size);
        }
    }

    private int copy(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment wanted = wanted(frame, 2 * CUDA_MEMCPY3D.dstXInBytes);
        int result = driver.call(frame.entry(), frame.slots());
        for (int side = 0; side <= CUDA_MEMCPY3D.dstXInBytes; side += CUDA_MEMCPY3D.dstXInBytes) {
            boolean array = result == CudaResult.SUCCESS && wanted.get(WireTypes.U32, side + CUDA_MEMCPY3D.srcMemoryType) == MemoryType.ARRAY;
            long handle = array ? wanted.get(WireTypes.U64, side + CUDA_MEMCPY3D.srcArray) : 0;
            wanted.set(WireTypes.U64, side + CUDA_MEMCPY3D.srcArray, results.known(HandleKind.ARRAY, handle));
        }
        return result;
    }

    private int operations(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment wanted = wanted(frame, CUDA_BATCH_MEM_OP_NODE_PARAMS.BYTES);
        int result = driver.call(frame.entry(), frame.slots());
        long count = Integer.toUnsignedLong(wanted.get(WireTypes.U32, CUDA_BATCH_MEM_OP_NODE_PARAMS.count));
        follow(wanted, CUDA_BATCH_MEM_OP_NODE_PARAMS.BYTES, CUDA_BATCH_MEM_OP_NODE_PARAMS.paramArray,
                result == CudaResult.SUCCESS ? count * CUstreamBatchMemOpParams.BYTES : 0);
        wanted.set(WireTypes.U64, CUDA_BATCH_MEM_OP_NODE_PARAMS.ctx, 0);
        return result;
    }

    private int allocation(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment wanted = wanted(frame, CUDA_MEM_ALLOC_NODE_PARAMS.BYTES);
        byte[] kept = graphMemory.allocationOf(frame.slot(0));
        if (kept == null) {
            return CudaResult.INVALID_VALUE;
        }
        MemorySegment.copy(MemorySegment.ofArray(kept), 0, wanted, 0, kept.length);
        return CudaResult.SUCCESS;
    }

    /** Appends the data of a pointer in a structure to the structure. */
    private static void follow(MemorySegment wanted, int bytes, int pointer, long more) {
        long address = wanted.get(WireTypes.U64, pointer);
        wanted.set(WireTypes.U64, pointer, 0);
        long copied = Math.min(more, wanted.byteSize() - bytes);
        if (address != 0 && copied > 0) {
            MemorySegment.copy(MemorySegment.ofAddress(address).reinterpret(copied), 0, wanted, bytes, copied);
        }
    }
}
