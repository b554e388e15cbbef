package io.tessera.executor.call.graph;

import io.tessera.device.CudaEnums.ConditionalType;
import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.device.CudaEnums.LaunchParameter;
import io.tessera.device.CudaEnums.MemoryOperation;
import io.tessera.device.CudaEnums.WaitValueFlag;
import io.tessera.device.CudaLayouts.CUDA_BATCH_MEM_OP_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_CONDITIONAL_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_HOST_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_KERNEL_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_MEMCPY_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_MEMSET_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUDA_MEM_ALLOC_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUgraphNodeParams;
import io.tessera.device.CudaLayouts.CUmemAccessDesc;
import io.tessera.device.CudaLayouts.CUstreamBatchMemOpParams;
import io.tessera.device.CudaResult;
import io.tessera.executor.call.AddressCheck;
import io.tessera.executor.call.AddressRule;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CopyStructures;
import io.tessera.executor.call.GridBound;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.StructureTranslation;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.stream.CompletionCounters;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.MemorySegment;
import java.util.function.LongPredicate;

/**
 * Prepares structures of graph nodes in the form of the relay (RELAY.md, section 8) for the driver, in place: handles and addresses are checked, and pointers
 * are set to the data that follows the structure. Layouts are those of cuda.h. One owner thread.
 */
final class NodeStructures {
    /** Offset of the structure for its type in {@code CUgraphNodeParams}. */
    static final int BODY = CUgraphNodeParams.reserved1;
    /** Offset of the copy in {@code CUgraphNodeParams} of a node that copies. */
    static final int COPY_BODY = BODY + CUDA_MEMCPY_NODE_PARAMS.copyParams;
    private static final int MOST_OPERATIONS = 256;
    private static final int MOST_BODIES = 1024;

    private final DeviceContext device;
    private final ClientFences fences;
    private final CompletionCounters words;
    private final LongPredicate conditions;
    private final StructureTranslation structures;
    private final CopyStructures copies;
    private final AddressCheck addresses;

    NodeStructures(DeviceContext device, ClientFences fences, CompletionCounters words, LongPredicate conditions, CallChecks checks) {
        this.device = device;
        this.fences = fences;
        this.words = words;
        this.conditions = conditions;
        this.structures = checks.structures();
        this.copies = checks.copies();
        this.addresses = checks.addresses();
    }

    /** Returns the function or kernel of {@code CUDA_KERNEL_NODE_PARAMS}, of either version. */
    static long kernelOf(MemorySegment node) {
        long function = node.get(WireTypes.U64, CUDA_KERNEL_NODE_PARAMS.func);
        return function == 0 && node.byteSize() > CUDA_KERNEL_NODE_PARAMS.kern ? node.get(WireTypes.U64, CUDA_KERNEL_NODE_PARAMS.kern) : function;
    }

    /** Checks that a kernel may be in a graph, and gives it the shared memory that it needs; the structure is translated already. */
    void mayRun(long clientHandle, MemorySegment node, MemorySegment parameters) throws RejectedException {
        long value = kernelOf(node);
        if (clientHandle == 0 || value == 0) {
            return; // the driver refuses it
        }
        try {
            fences.kernels().toGraph(clientHandle, value, parameters, parameters.byteSize());
            long asked = Integer.toUnsignedLong(node.get(WireTypes.U32, CUDA_KERNEL_NODE_PARAMS.sharedMemBytes));
            node.set(WireTypes.U32, CUDA_KERNEL_NODE_PARAMS.sharedMemBytes, (int) fences.kernels().sharedBytes(clientHandle, value, asked));
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /** Makes the client's {@code CUDA_KERNEL_NODE_PARAMS} from the driver's, for a function of the client. */
    void asked(long clientHandle, long function, MemorySegment node) throws RejectedException {
        try {
            long added = clientHandle == 0 ? 0 : fences.kernels().sharedBytes(clientHandle, function, 0);
            node.set(WireTypes.U32, CUDA_KERNEL_NODE_PARAMS.sharedMemBytes,
                    (int) (node.get(WireTypes.U32, CUDA_KERNEL_NODE_PARAMS.sharedMemBytes) - added));
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /** {@code CUDA_KERNEL_NODE_PARAMS}, of either version, that is translated already. */
    void kernel(CallFrame frame, MemorySegment node, MemorySegment parameters) throws RejectedException {
        GridBound.check(node, CUDA_KERNEL_NODE_PARAMS.gridDimX);
        node.set(WireTypes.U64, CUDA_KERNEL_NODE_PARAMS.kernelParams, 0);
        if (parameters.byteSize() > 0) {
            MemorySegment extra = frame.room(48);
            extra.set(WireTypes.U64, 0, LaunchParameter.BUFFER_POINTER_AS_INT);
            extra.set(WireTypes.U64, 8, parameters.address());
            extra.set(WireTypes.U64, 16, LaunchParameter.BUFFER_SIZE_AS_INT);
            extra.set(WireTypes.U64, 24, extra.address() + 40);
            extra.set(WireTypes.U64, 40, parameters.byteSize());
            node.set(WireTypes.U64, CUDA_KERNEL_NODE_PARAMS.extra, extra.address());
        }
    }

    /** {@code CUDA_MEMCPY3D}. */
    void copy(MemorySegment copy) throws RejectedException {
        copies.box(copy, false);
    }

    /** {@code CUDA_MEMSET_NODE_PARAMS}, either version. */
    void memset(MemorySegment node) throws RejectedException {
        int elementBytes = node.get(WireTypes.U32, CUDA_MEMSET_NODE_PARAMS.elementSize);
        long width = node.get(WireTypes.U64, CUDA_MEMSET_NODE_PARAMS.width);
        long height = node.get(WireTypes.U64, CUDA_MEMSET_NODE_PARAMS.height);
        if (elementBytes < 1 || elementBytes > 4 || width < 0 || width > Long.MAX_VALUE / elementBytes) {
            throw CallFrame.malformed("a memset of elements of " + elementBytes + " bytes");
        }
        addresses.own(node.get(WireTypes.U64, CUDA_MEMSET_NODE_PARAMS.dst),
                AddressRule.rows(width * elementBytes, height, node.get(WireTypes.U64, CUDA_MEMSET_NODE_PARAMS.pitch)));
    }

    /** {@code CUDA_BATCH_MEM_OP_NODE_PARAMS}. */
    void operations(MemorySegment node, MemorySegment operations) throws RejectedException {
        long count = Integer.toUnsignedLong(node.get(WireTypes.U32, CUDA_BATCH_MEM_OP_NODE_PARAMS.count));
        if (count > MOST_OPERATIONS || operations.byteSize() < count * CUstreamBatchMemOpParams.BYTES) {
            throw CallFrame.malformed(count + " memory operations");
        }
        addresses.operations(operations, count, true);
        fences.watchdog().waitsInGraph();
        node.set(WireTypes.U64, CUDA_BATCH_MEM_OP_NODE_PARAMS.ctx, device.handle());
        node.set(WireTypes.U64, CUDA_BATCH_MEM_OP_NODE_PARAMS.paramArray, operations.address());
    }

    /**
     * Makes {@code CUDA_BATCH_MEM_OP_NODE_PARAMS} for a host node: the device writes 1 to the client's word and waits until
     * it is 0, as for a host function in a stream, so that no client blocks the driver's callback thread.
     */
    void hostCall(CallFrame frame, MemorySegment node, long word) throws RejectedException {
        if (word < 0 || word >= RelayLayout.WORDS) {
            throw CallFrame.malformed("word " + word);
        }
        fences.watchdog().waitsInGraph();
        MemorySegment operations = frame.room(2L * CUstreamBatchMemOpParams.BYTES);
        long address = words.address((int) word);
        operations.set(WireTypes.U32, CUstreamBatchMemOpParams.operation, MemoryOperation.WRITE_VALUE_64);
        operations.set(WireTypes.U64, CUstreamBatchMemOpParams.writeValue_address, address);
        operations.set(WireTypes.U64, CUstreamBatchMemOpParams.writeValue_value64, 1);
        operations.set(WireTypes.U32, CUstreamBatchMemOpParams.BYTES + CUstreamBatchMemOpParams.operation, MemoryOperation.WAIT_VALUE_64);
        operations.set(WireTypes.U64, CUstreamBatchMemOpParams.BYTES + CUstreamBatchMemOpParams.waitValue_address, address);
        operations.set(WireTypes.U32, CUstreamBatchMemOpParams.BYTES + CUstreamBatchMemOpParams.waitValue_flags, WaitValueFlag.EQ);
        node.asSlice(0, CUDA_BATCH_MEM_OP_NODE_PARAMS.BYTES).fill((byte) 0);
        node.set(WireTypes.U64, CUDA_BATCH_MEM_OP_NODE_PARAMS.ctx, device.handle());
        node.set(WireTypes.U32, CUDA_BATCH_MEM_OP_NODE_PARAMS.count, 2);
        node.set(WireTypes.U64, CUDA_BATCH_MEM_OP_NODE_PARAMS.paramArray, operations.address());
    }

    /** Returns the word of a node that {@link #hostCall} made, from the driver's answer; -1: it is another kind of node. */
    long wordOf(MemorySegment node) {
        long array = node.get(WireTypes.U64, CUDA_BATCH_MEM_OP_NODE_PARAMS.paramArray);
        if (node.get(WireTypes.U32, CUDA_BATCH_MEM_OP_NODE_PARAMS.count) != 2 || array == 0) {
            return -1;
        }
        long address = MemorySegment.ofAddress(array).reinterpret(CUstreamBatchMemOpParams.BYTES).get(WireTypes.U64,
                CUstreamBatchMemOpParams.writeValue_address);
        return words.indexOf(address);
    }

    /** {@code CUDA_MEM_ALLOC_NODE_PARAMS} that is translated already. */
    void allocation(MemorySegment node, MemorySegment access) throws RejectedException {
        long count = node.get(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.accessDescCount);
        if (count < 0 || count > access.byteSize() / CUmemAccessDesc.BYTES) {
            throw CallFrame.malformed(count + " access descriptors");
        }
        for (long i = 0; i < count; i++) {
            structures.in(access.asSlice(i * CUmemAccessDesc.BYTES, CUmemAccessDesc.BYTES), "CUmemAccessDesc");
        }
        node.set(WireTypes.U64, CUDA_MEM_ALLOC_NODE_PARAMS.accessDescs, count == 0 ? 0 : access.address());
    }

    /** {@code CUgraphNodeParams} of any type that is relayed. */
    void any(CallFrame frame, MemorySegment node, MemorySegment followers) throws RejectedException {
        int type = node.get(WireTypes.U32, CUgraphNodeParams.type);
        if (type == GraphNodeType.MEMCPY) {
            copy(node.asSlice(COPY_BODY));
            node.set(WireTypes.U64, BODY + CUDA_MEMCPY_NODE_PARAMS.copyCtx, device.handle());
            return;
        }
        MemorySegment body = node.asSlice(BODY);
        if (type == GraphNodeType.HOST) {
            hostCall(frame, body, body.get(WireTypes.U64, CUDA_HOST_NODE_PARAMS.userData));
            node.set(WireTypes.U32, CUgraphNodeParams.type, GraphNodeType.BATCH_MEM_OP);
            return;
        }
        long clientHandle = type == GraphNodeType.KERNEL ? kernelOf(body) : 0;
        structures.in(node, "CUgraphNodeParams");
        switch (type) {
            case GraphNodeType.KERNEL -> {
                kernel(frame, body, followers);
                mayRun(clientHandle, body, followers);
            }
            case GraphNodeType.MEMSET -> memset(body);
            case GraphNodeType.MEM_ALLOC -> allocation(body, followers);
            case GraphNodeType.BATCH_MEM_OP -> operations(body, followers);
            case GraphNodeType.CONDITIONAL -> {
                if (body.get(WireTypes.U32, CUDA_CONDITIONAL_NODE_PARAMS.type) == ConditionalType.WHILE) {
                    throw RejectedException.unsupported("a loop in a graph (kernels behind fences set no conditions, so nothing would end it)");
                }
                if (!conditions.test(body.get(WireTypes.U64, CUDA_CONDITIONAL_NODE_PARAMS.handle))) {
                    throw new RejectedException(CudaResult.INVALID_HANDLE, "no condition of the client");
                }
                int size = body.get(WireTypes.U32, CUDA_CONDITIONAL_NODE_PARAMS.size);
                if (size < 1 || size > MOST_BODIES || followers.byteSize() < (long) size * Long.BYTES) {
                    throw CallFrame.malformed("a conditional node with " + size + " bodies");
                }
            }
            case GraphNodeType.GRAPH, GraphNodeType.EMPTY, GraphNodeType.WAIT_EVENT, GraphNodeType.EVENT_RECORD, GraphNodeType.MEM_FREE -> {
                // everything is translated already
            }
            default -> throw RejectedException.unsupported("a graph node of type " + type);
        }
    }
}
