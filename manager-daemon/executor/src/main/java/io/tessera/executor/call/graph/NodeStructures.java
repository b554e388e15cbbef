package io.tessera.executor.call.graph;

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
 * Structures of graph nodes as they travel (RELAY.md, section 8), made ready for the driver in place: handles and addresses checked,
 * pointers to what follows the structure. Layouts are cuda.h's. One owner thread.
 */
final class NodeStructures {
    /** {@code CUgraphNodeType}. */
    static final int KERNEL = 0;
    static final int COPY = 1;
    static final int MEMSET = 2;
    static final int HOST = 3;
    static final int EMPTY = 5;
    static final int ALLOCATION = 10;
    static final int FREE = 11;
    static final int OPERATIONS = 12;
    static final int CONDITIONAL = 13;

    /** {@code CUgraphNodeParams}: its size, and where the structure of the type begins. */
    static final int ANY_BYTES = 256;
    static final int BODY = 16;
    static final int OPERATIONS_BYTES = 32;
    static final int OPERATIONS_COUNT = 8;
    static final int OPERATIONS_ARRAY = 16;
    static final int OPERATION_BYTES = 48;
    static final int ALLOCATION_BYTES = 120;
    static final int ALLOCATION_ACCESS = 88;
    static final int ALLOCATION_ACCESS_COUNT = 96;
    static final int ACCESS_BYTES = 12;
    private static final int CONDITIONAL_TYPE = BODY + 8;
    /** CU_GRAPH_COND_TYPE_WHILE. */
    private static final int WHILE = 1;
    static final int CONDITIONAL_SIZE = BODY + 12;
    static final int CONDITIONAL_GRAPHS = BODY + 16;

    private static final int KERNEL_GRID = 8;
    private static final int KERNEL_SHARED = 32;
    private static final int KERNEL_PARAMETERS = 40;
    private static final int KERNEL_EXTRA = 48;
    private static final int KERNEL_KERNEL = 56;
    /** In {@code CUDA_MEMCPY_NODE_PARAMS}: the context, and the copy itself. */
    private static final int COPY_CONTEXT = BODY + 8;
    static final int COPY_BODY = BODY + 16;
    /** {@code CUstreamBatchMemOpParams}. */
    private static final int WAIT_64 = 4;
    private static final int WRITE_64 = 5;
    private static final int WAIT_EQUAL = 1;
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

    /** The function or kernel of {@code CUDA_KERNEL_NODE_PARAMS}, of either version. */
    static long kernelOf(MemorySegment node) {
        long function = node.get(WireTypes.U64, 0);
        return function == 0 && node.byteSize() > KERNEL_KERNEL ? node.get(WireTypes.U64, KERNEL_KERNEL) : function;
    }

    /** Checks that a kernel may be in a graph, and gives it the shared memory that it needs; the structure is translated already. */
    void mayRun(long clientHandle, MemorySegment node, MemorySegment parameters) throws RejectedException {
        long value = kernelOf(node);
        if (clientHandle == 0 || value == 0) {
            return; // the driver refuses it
        }
        try {
            fences.kernels().toGraph(clientHandle, value, parameters, parameters.byteSize());
            long asked = Integer.toUnsignedLong(node.get(WireTypes.U32, KERNEL_SHARED));
            node.set(WireTypes.U32, KERNEL_SHARED, (int) fences.kernels().sharedBytes(clientHandle, value, asked));
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /** The client's {@code CUDA_KERNEL_NODE_PARAMS} from the driver's, of a function of the client. */
    void asked(long clientHandle, long function, MemorySegment node) throws RejectedException {
        try {
            long added = clientHandle == 0 ? 0 : fences.kernels().sharedBytes(clientHandle, function, 0);
            node.set(WireTypes.U32, KERNEL_SHARED, (int) (node.get(WireTypes.U32, KERNEL_SHARED) - added));
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /** {@code CUDA_KERNEL_NODE_PARAMS}, of either version, that is translated already. */
    void kernel(CallFrame frame, MemorySegment node, MemorySegment parameters) throws RejectedException {
        GridBound.check(node, KERNEL_GRID);
        node.set(WireTypes.U64, KERNEL_PARAMETERS, 0);
        if (parameters.byteSize() > 0) {
            MemorySegment extra = frame.room(48);
            extra.set(WireTypes.U64, 0, 1); // CU_LAUNCH_PARAM_BUFFER_POINTER
            extra.set(WireTypes.U64, 8, parameters.address());
            extra.set(WireTypes.U64, 16, 2); // CU_LAUNCH_PARAM_BUFFER_SIZE
            extra.set(WireTypes.U64, 24, extra.address() + 40);
            extra.set(WireTypes.U64, 40, parameters.byteSize());
            node.set(WireTypes.U64, KERNEL_EXTRA, extra.address());
        }
    }

    /** {@code CUDA_MEMCPY3D}. */
    void copy(MemorySegment copy) throws RejectedException {
        copies.box(copy, false);
    }

    /** {@code CUDA_MEMSET_NODE_PARAMS}, either version: destination, pitch, value, element size, width, height. */
    void memset(MemorySegment node) throws RejectedException {
        int elementBytes = node.get(WireTypes.U32, 20);
        long width = node.get(WireTypes.U64, 24);
        long height = node.get(WireTypes.U64, 32);
        if (elementBytes < 1 || elementBytes > 4 || width < 0 || width > Long.MAX_VALUE / elementBytes) {
            throw CallFrame.malformed("a memset of elements of " + elementBytes + " bytes");
        }
        addresses.own(node.get(WireTypes.U64, 0),
                AddressRule.rows(width * elementBytes, height, node.get(WireTypes.U64, 8)));
    }

    /** {@code CUDA_BATCH_MEM_OP_NODE_PARAMS}: {context, count, operations, flags}. */
    void operations(MemorySegment node, MemorySegment operations) throws RejectedException {
        long count = Integer.toUnsignedLong(node.get(WireTypes.U32, OPERATIONS_COUNT));
        if (count > MOST_OPERATIONS || operations.byteSize() < count * OPERATION_BYTES) {
            throw CallFrame.malformed(count + " memory operations");
        }
        addresses.operations(operations, count, true);
        fences.watchdog().waitsInGraph();
        node.set(WireTypes.U64, 0, device.handle());
        node.set(WireTypes.U64, OPERATIONS_ARRAY, operations.address());
    }

    /**
     * Makes a host node's work into {@code CUDA_BATCH_MEM_OP_NODE_PARAMS}: the device writes 1 to the client's word and
     * waits until it is 0, as for a host function in a stream, so that no client holds up the driver's callback thread.
     */
    void hostCall(CallFrame frame, MemorySegment node, long word) throws RejectedException {
        if (word < 0 || word >= RelayLayout.WORDS) {
            throw CallFrame.malformed("word " + word);
        }
        fences.watchdog().waitsInGraph();
        MemorySegment operations = frame.room(2L * OPERATION_BYTES);
        long address = words.address((int) word);
        operations.set(WireTypes.U32, 0, WRITE_64);
        operations.set(WireTypes.U64, 8, address);
        operations.set(WireTypes.U64, 16, 1);
        operations.set(WireTypes.U32, OPERATION_BYTES, WAIT_64);
        operations.set(WireTypes.U64, OPERATION_BYTES + 8L, address);
        operations.set(WireTypes.U32, OPERATION_BYTES + 24L, WAIT_EQUAL);
        node.asSlice(0, OPERATIONS_BYTES).fill((byte) 0);
        node.set(WireTypes.U64, 0, device.handle());
        node.set(WireTypes.U32, OPERATIONS_COUNT, 2);
        node.set(WireTypes.U64, OPERATIONS_ARRAY, operations.address());
    }

    /** The word of a node that {@link #hostCall} made, from the driver's answer; -1: it is another one. */
    long wordOf(MemorySegment node) {
        long array = node.get(WireTypes.U64, OPERATIONS_ARRAY);
        if (node.get(WireTypes.U32, OPERATIONS_COUNT) != 2 || array == 0) {
            return -1;
        }
        long address = MemorySegment.ofAddress(array).reinterpret(OPERATION_BYTES).get(WireTypes.U64, 8);
        return words.indexOf(address);
    }

    /** {@code CUDA_MEM_ALLOC_NODE_PARAMS} that is translated already. */
    void allocation(MemorySegment node, MemorySegment access) throws RejectedException {
        long count = node.get(WireTypes.U64, ALLOCATION_ACCESS_COUNT);
        if (count < 0 || count > access.byteSize() / ACCESS_BYTES) {
            throw CallFrame.malformed(count + " access descriptors");
        }
        for (long i = 0; i < count; i++) {
            structures.in(access.asSlice(i * ACCESS_BYTES, ACCESS_BYTES), "CUmemAccessDesc");
        }
        node.set(WireTypes.U64, ALLOCATION_ACCESS, count == 0 ? 0 : access.address());
    }

    /** {@code CUgraphNodeParams} of any type that is relayed. */
    void any(CallFrame frame, MemorySegment node, MemorySegment followers) throws RejectedException {
        int type = node.get(WireTypes.U32, 0);
        if (type == COPY) {
            copy(node.asSlice(COPY_BODY));
            node.set(WireTypes.U64, COPY_CONTEXT, device.handle());
            return;
        }
        MemorySegment body = node.asSlice(BODY);
        if (type == HOST) {
            hostCall(frame, body, body.get(WireTypes.U64, 8));
            node.set(WireTypes.U32, 0, OPERATIONS);
            return;
        }
        long clientHandle = type == KERNEL ? kernelOf(body) : 0;
        structures.in(node, "CUgraphNodeParams");
        switch (type) {
            case KERNEL -> {
                kernel(frame, body, followers);
                mayRun(clientHandle, body, followers);
            }
            case MEMSET -> memset(body);
            case ALLOCATION -> allocation(body, followers);
            case OPERATIONS -> operations(body, followers);
            case CONDITIONAL -> {
                if (body.get(WireTypes.U32, CONDITIONAL_TYPE - BODY) == WHILE) {
                    throw RejectedException.unsupported("a loop in a graph (kernels behind fences set no conditions, so nothing would end it)");
                }
                if (!conditions.test(body.get(WireTypes.U64, 0))) {
                    throw new RejectedException(CudaResult.INVALID_HANDLE, "no condition of the client");
                }
                int size = node.get(WireTypes.U32, CONDITIONAL_SIZE);
                if (size < 1 || size > MOST_BODIES || followers.byteSize() < (long) size * Long.BYTES) {
                    throw CallFrame.malformed("a conditional node with " + size + " bodies");
                }
            }
            case 4, 5, 6, 7, 11 -> { // child graph, empty, events, free: all is translated
            }
            default -> throw RejectedException.unsupported("a graph node of type " + type);
        }
    }
}
