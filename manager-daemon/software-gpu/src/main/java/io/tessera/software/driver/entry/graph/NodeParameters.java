package io.tessera.software.driver.entry.graph;

import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.BatchMemOpNode;
import io.tessera.software.driver.abi.StructLayouts.KernelNode;
import io.tessera.software.driver.abi.StructLayouts.MemAllocNode;
import io.tessera.software.driver.abi.StructLayouts.MemOp;
import io.tessera.software.driver.abi.StructLayouts.Memcpy3D;
import io.tessera.software.driver.abi.StructLayouts.MemsetNode;
import io.tessera.software.driver.abi.StructLayouts.NodeParams;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.launch.LaunchEntries;
import io.tessera.software.driver.entry.launch.LaunchRequest;
import io.tessera.software.driver.entry.memory.FillEntries;
import io.tessera.software.driver.entry.memory.GraphMemoryNodes;
import io.tessera.software.driver.entry.memory.MemoryWordEntries;
import io.tessera.software.driver.entry.memory.Transfers;
import io.tessera.software.driver.graph.AllocationNodeMemory;
import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.CudaGraph.ChildGraph;
import io.tessera.software.driver.graph.GraphNode;
import io.tessera.software.driver.graph.MemoryAllocate;
import io.tessera.software.driver.graph.MemoryFree;
import io.tessera.software.driver.module.Library.LibraryKernel;
import io.tessera.software.driver.operation.EventRecord;
import io.tessera.software.driver.operation.EventWait;
import io.tessera.software.driver.operation.Fill;
import io.tessera.software.driver.operation.HostFunction;
import io.tessera.software.driver.operation.KernelLaunch;
import io.tessera.software.driver.operation.MemoryWord;
import io.tessera.software.driver.operation.MemoryWords;
import io.tessera.software.driver.operation.Nothing;
import io.tessera.software.driver.work.Event;
import io.tessera.software.driver.work.Operation;
import io.tessera.software.launch.Dim3;
import io.tessera.software.program.Parameter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/** Between the structures that describe nodes and the operations of nodes. */
final class NodeParameters {
    private final DriverState state;
    private final Transfers transfers;
    /** Memory behind the pointers of a node's last answer; it lives as long as the node, or until the next answer. */
    private final Map<GraphNode, MemorySegment[]> told = Collections.synchronizedMap(new WeakHashMap<>());

    NodeParameters(DriverState state) {
        this.state = state;
        transfers = new Transfers(state);
    }

    /** CUDA_KERNEL_NODE_PARAMS; {@code attributes} are those that the node keeps. */
    KernelLaunch kernel(long place, boolean withKernel, Map<Integer, byte[]> attributes) {
        long function = HostMemory.getLong(place + KernelNode.FUNCTION);
        if (function == 0 && withKernel) {
            function = HostMemory.getLong(place + KernelNode.KERNEL);
        }
        return new LaunchRequest(function, LaunchEntries.extents(place + KernelNode.GRID),
                LaunchEntries.extents(place + KernelNode.BLOCK), HostMemory.getInt(place + KernelNode.SHARED),
                HostMemory.getLong(place + KernelNode.PARAMETERS), HostMemory.getLong(place + KernelNode.EXTRA),
                attributes).prepare(state);
    }

    /** CUDA_MEMCPY3D. */
    Operation copy(long place) {
        return transfers.described(place).copy();
    }

    /** CUDA_MEMSET_NODE_PARAMS. */
    Operation fill(long place) {
        Fill fill = new Fill(HostMemory.getLong(place + MemsetNode.ADDRESS),
                HostMemory.getLong(place + MemsetNode.PITCH), HostMemory.getInt(place + MemsetNode.VALUE),
                HostMemory.getInt(place + MemsetNode.ELEMENT), HostMemory.getLong(place + MemsetNode.WIDTH),
                HostMemory.getLong(place + MemsetNode.HEIGHT));
        FillEntries.check(state, fill);
        return fill;
    }

    /** CUDA_HOST_NODE_PARAMS. */
    static Operation host(long place) {
        DriverException.require(HostMemory.getLong(place) != 0, CudaError.INVALID_VALUE);
        return new HostFunction(HostMemory.getLong(place), HostMemory.getLong(place + 8));
    }

    /** CUDA_BATCH_MEM_OP_NODE_PARAMS. */
    Operation words(long place) {
        return MemoryWordEntries.batch(state, HostMemory.getInt(place + BatchMemOpNode.COUNT),
                HostMemory.getLong(place + BatchMemOpNode.OPERATIONS));
    }

    /** CUDA_MEM_ALLOC_NODE_PARAMS, whose address is written. */
    Operation allocate(long place, Context context) {
        long bytes = HostMemory.getLong(place + MemAllocNode.BYTE_SIZE);
        DriverException.require(bytes > 0, CudaError.INVALID_VALUE);
        return new MemoryAllocate(GraphMemoryNodes.allocate(state, place, bytes, context));
    }

    /** An address that an allocation node made. */
    Operation free(long address) {
        AllocationNodeMemory memory = state.graphMemory().get(address);
        DriverException.require(memory != null, CudaError.INVALID_VALUE);
        return new MemoryFree(memory);
    }

    /** Returns the structure in CUgraphNodeParams for a type. */
    Operation of(int type, long body, Context context) {
        return switch (type) {
            case GraphNodeType.KERNEL -> kernel(body, true, Map.of());
            case GraphNodeType.MEMCPY -> copy(body + NodeParams.MEMCPY_COPY);
            case GraphNodeType.MEMSET -> fill(body);
            case GraphNodeType.HOST -> host(body);
            case GraphNodeType.GRAPH -> new ChildGraph(state.handles().get(HostMemory.getLong(body), CudaGraph.class).copy());
            case GraphNodeType.EMPTY -> Nothing.INSTANCE;
            case GraphNodeType.WAIT_EVENT -> new EventWait(state.handles().get(HostMemory.getLong(body), Event.class));
            case GraphNodeType.EVENT_RECORD -> new EventRecord(state.handles().get(HostMemory.getLong(body), Event.class));
            case GraphNodeType.MEM_ALLOC -> allocate(body, context);
            case GraphNodeType.MEM_FREE -> free(HostMemory.getLong(body));
            case GraphNodeType.BATCH_MEM_OP -> words(body);
            case GraphNodeType.EXT_SEMAS_SIGNAL, GraphNodeType.EXT_SEMAS_WAIT, GraphNodeType.CONDITIONAL ->
                throw new DriverException(CudaError.NOT_SUPPORTED);
            default -> throw new DriverException(CudaError.INVALID_VALUE);
        };
    }

    /** Writes CUDA_KERNEL_NODE_PARAMS. */
    void tell(GraphNode node, KernelLaunch launch, long place, boolean withKernel) {
        boolean isKernel = state.handles().find(launch.handle()) instanceof LibraryKernel;
        HostMemory.fill(place, withKernel ? KernelNode.BYTES : KernelNode.BYTES_V1, (byte) 0);
        long function = isKernel ? state.handles().of(launch.function()) : launch.handle();
        HostMemory.putLong(place + KernelNode.FUNCTION, withKernel && isKernel ? 0 : function);
        if (withKernel && isKernel) {
            HostMemory.putLong(place + KernelNode.KERNEL, launch.handle());
        }
        extents(place + KernelNode.GRID, launch.spec().grid());
        extents(place + KernelNode.BLOCK, launch.spec().block());
        HostMemory.putInt(place + KernelNode.SHARED, launch.spec().dynamicSharedBytes());
        MemorySegment[] kept = parameters(launch);
        told.put(node, kept);
        HostMemory.putLong(place + KernelNode.PARAMETERS, kept[0].address());
    }

    private static void extents(long place, Dim3 extents) {
        HostMemory.putInt(place, extents.x());
        HostMemory.putInt(place + 4, extents.y());
        HostMemory.putInt(place + 8, extents.z());
    }

    private static MemorySegment[] parameters(KernelLaunch launch) {
        Arena arena = Arena.ofAuto();
        byte[] bytes = launch.spec().parameters();
        MemorySegment buffer = arena.allocate(Math.max(1, bytes.length), 16);
        buffer.copyFrom(MemorySegment.ofArray(bytes));
        int count = launch.function().parameters().size();
        MemorySegment pointers = arena.allocate(ValueLayout.JAVA_LONG, Math.max(1, count));
        int i = 0;
        for (Parameter parameter : launch.function().parameters()) {
            pointers.setAtIndex(ValueLayout.JAVA_LONG, i++, buffer.address() + parameter.offset());
        }
        return new MemorySegment[] {pointers, buffer};
    }

    /** Writes CUDA_MEMSET_NODE_PARAMS. */
    static void tell(Fill fill, long place) {
        HostMemory.putLong(place + MemsetNode.ADDRESS, fill.address());
        HostMemory.putLong(place + MemsetNode.PITCH, fill.pitchBytes());
        HostMemory.putInt(place + MemsetNode.VALUE, fill.value());
        HostMemory.putInt(place + MemsetNode.ELEMENT, fill.elementBytes());
        HostMemory.putLong(place + MemsetNode.WIDTH, fill.width());
        HostMemory.putLong(place + MemsetNode.HEIGHT, fill.height());
    }

    /** Writes CUDA_MEMCPY3D. */
    static void tell(byte[] description, long place) {
        HostMemory.put(place, description, Memcpy3D.BYTES);
    }

    /** Writes CUDA_BATCH_MEM_OP_NODE_PARAMS. */
    void tell(GraphNode node, MemoryWords words, long place, Context context) {
        HostMemory.fill(place, BatchMemOpNode.BYTES, (byte) 0);
        HostMemory.putLong(place + BatchMemOpNode.CONTEXT, context.handle());
        HostMemory.putInt(place + BatchMemOpNode.COUNT, words.words().size());
        MemorySegment[] kept = operations(words);
        told.put(node, kept);
        HostMemory.putLong(place + BatchMemOpNode.OPERATIONS, kept[0].address());
    }

    private static MemorySegment[] operations(MemoryWords words) {
        MemorySegment out = Arena.ofAuto().allocate((long) words.words().size() * MemOp.BYTES, 8);
        long at = out.address();
        for (MemoryWord word : words.words()) {
            HostMemory.putInt(at + MemOp.OPERATION, word.kind().number());
            HostMemory.putLong(at + MemOp.ADDRESS, word.address());
            HostMemory.putLong(at + MemOp.VALUE, word.value());
            HostMemory.putInt(at + MemOp.FLAGS, word.flags());
            at += MemOp.BYTES;
        }
        return new MemorySegment[] {out};
    }
}
