package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.device.Extent;
import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription.Pointer;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.quota.Countable;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayHandle;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** What calls make and end becomes or ceases to be the client's. One owner thread. */
final class HandleResults {
    /** What tells of something that is named elsewhere, and makes nothing. */
    private static final Set<String> NAMING = Set.of("cuTexRefGetArray", "cuTexRefGetMipmappedArray", "cuSurfRefGetArray", "cuGraphEventRecordNodeGetEvent",
            "cuGraphEventWaitNodeGetEvent");
    /** Text or code as it came, and what is made of it. */
    static final int IMAGE_COPIES = 2;

    private final ClientState client;
    private final ClientHandles handles;
    private final MemoryCalls memory;

    HandleResults(ClientState client, MemoryCalls memory) {
        this.client = client;
        this.handles = client.handles();
        this.memory = memory;
    }

    /**
     * After a call that succeeded: driver's handles in its out-data become the client's, what it ended is forgotten.
     *
     * @return SUCCESS, or OUT_OF_MEMORY if the client has as many handles as there can be
     */
    int take(CallFrame frame, int context) {
        CallPlan plan = frame.plan();
        HandleKind ended = Lifetimes.ends(plan);
        if (ended != null) {
            ended(ended, frame.said(0));
        }
        int result = CudaResult.SUCCESS;
        for (int i = 0; i < plan.shapes.length; i++) {
            if (plan.shapes[i] instanceof Pointer pointer && pointer.direction().comesOut() && frame.data(i) != null
                    && pointer.element().isPresent() && !Packed.is(plan, i)) {
                HandleKind kind = pointer.element().get();
                if (!elements(frame, i, kind, count(frame, pointer), context)) {
                    result = CudaResult.OUT_OF_MEMORY;
                }
                if (kind == HandleKind.MODULE || kind == HandleKind.LIBRARY) {
                    image(kind, frame.data(i).get(WireTypes.U64, 0), frame.totalInBytes());
                }
                if (plan.api().equals("cuMemCreate")) {
                    memory.allocationCreated(frame.data(i).get(WireTypes.U64, 0));
                } else if (plan.api().equals("cuMemRetainAllocationHandle")) {
                    memory.allocationRetained(frame.data(i).get(WireTypes.U64, 0), frame.slot(1));
                }
            }
        }
        return result;
    }

    /** What a module or library was loaded from is kept as long as it is: as machine code, and often as text. */
    private void image(HandleKind kind, long said, long bytes) {
        HandleTable table = handles.table(kind);
        if (table.value(said) != HandleTable.NONE && table.attachment(said) == null) {
            table.attach(said, IMAGE_COPIES * bytes);
            handles.account().add(Countable.IMAGE, 1, IMAGE_COPIES * bytes);
        }
    }

    /** After a call that failed: the driver's own handles do not travel. */
    void clear(CallFrame frame) {
        CallPlan plan = frame.plan();
        for (int i = 0; i < plan.shapes.length; i++) {
            if (plan.shapes[i] instanceof Pointer pointer && pointer.direction().comesOut()
                    && pointer.element().isPresent() && frame.data(i) != null) {
                frame.data(i).fill((byte) 0);
            }
        }
    }

    private static long count(CallFrame frame, Pointer pointer) {
        return switch (pointer.extent()) {
            case Extent.Constant constant -> constant.elements();
            case Extent.Value value -> value.elements(frame.slot(value.parameter()));
            case Extent.Behind behind -> frame.data(behind.parameter()) == null ? 0
                    : frame.data(behind.parameter()).get(WireTypes.U64, 0);
            case Extent.Text _, Extent.Handwritten _ -> 1;
        };
    }

    private boolean elements(CallFrame frame, int i, HandleKind kind, long count, int context) {
        MemorySegment data = frame.data(i);
        long parent = Lifetimes.parent(frame, kind);
        if (kind == HandleKind.GRAPH_NODE && parent == HandleTable.NONE && frame.handleParameter(kind) >= 0) {
            // Neighbours of a node go away with its graph.
            parent = handles.table(kind).parent(frame.said(frame.handleParameter(kind)));
        }
        if (kind == HandleKind.MODULE && frame.plan().api().equals("cuFuncGetModule")) {
            parent = library(frame.said(1));
        }
        boolean all = true;
        for (long at = 0; at < Math.min(count * Long.BYTES, data.byteSize() - Long.BYTES + 1); at += Long.BYTES) {
            long value = data.get(WireTypes.U64, at);
            boolean named = NAMING.contains(frame.plan().api());
            long handle = named ? known(kind, value) : translated(kind, value, parent, context);
            all &= named || handle != HandleTable.NONE || value == 0;
            data.set(WireTypes.U64, at, handle);
        }
        return all;
    }

    /**
     * What the client is told for a driver's handle of something that a node, a reference or a texture names: 0 if the client has ended it. It gets no new
     * handle of that, since it would keep it beyond the end.
     */
    long known(HandleKind kind, long value) {
        return value == 0 ? 0 : handles.find(kind, client.fences().shown(kind, value));
    }

    /** The library that a function or kernel is of; NONE: it is of none. */
    private long library(long said) {
        for (long parent = said; parent != HandleTable.NONE; ) {
            int type = RelayHandle.type(parent);
            if (type == HandleKind.LIBRARY.number()) {
                return parent;
            }
            HandleKind kind = type == HandleKind.KERNEL.number() ? HandleKind.KERNEL : type == HandleKind.MODULE.number() ? HandleKind.MODULE
                    : HandleKind.FUNCTION;
            parent = handles.table(kind).parent(parent);
        }
        return HandleTable.NONE;
    }

    /** The same of what stands in a structure: nodes of graphs are found so for the first time, all else is {@link #known}. */
    long named(HandleKind kind, long value, long parent, int context) {
        return kind == HandleKind.GRAPH_NODE || kind == HandleKind.GRAPH ? translated(kind, value, parent, context) : known(kind, value);
    }

    /**
     * The same of the function of a node, which the client may know as a kernel of a library only.
     *
     * @param kernel the driver's kernel, if it tells that; 0: it does not
     */
    long function(long function, long kernel, int context) {
        long said = known(HandleKind.FUNCTION, function);
        if (said != HandleTable.NONE || function == 0) {
            return said;
        }
        for (long known : handles.ofContext(HandleKind.KERNEL, -1)) {
            long value = handles.value(HandleKind.KERNEL, known);
            boolean its = value == kernel || kernel == 0 && client.driver().call(DriverEntry.cuKernelGetFunction, client.driver().out(0), value)
                    == CudaResult.SUCCESS && client.driver().outLong(0) == function;
            if (its) {
                return translated(HandleKind.FUNCTION, function, known, context);
            }
        }
        return HandleTable.NONE;
    }

    /** What the client is told for a driver's handle; 0 for 0. */
    long translated(HandleKind kind, long value, long parent, int context) {
        if (value == 0) {
            return 0;
        }
        return handles.put(kind, client.fences().shown(kind, value), parent, Lifetimes.context(kind, context));
    }

    /** Something is over: forgets it and what goes away with it. */
    void ended(HandleKind kind, long said) {
        if (Lifetimes.counted(kind)) {
            if (handles.release(kind, said)) {
                memory.allocationReleased(said);
            }
            return;
        }
        long value = handles.value(kind, said);
        if (!kind.deviceValue()) {
            client.graphs().ending(kind, said);
            if (handles.table(kind).attachment(said) instanceof Long bytes) {
                handles.account().add(Countable.IMAGE, -1, -bytes);
            }
        }
        handles.remove(kind, said);
        handles.holdovers().ended(kind);
        switch (kind) {
            case GRAPH -> client.graphMemory().graphGone(value);
            case GRAPH_EXEC -> client.graphMemory().executableGone(value);
            case GRAPH_NODE -> client.graphMemory().nodeGone(value);
            default -> {
            }
        }
        if (kind == HandleKind.MODULE || kind == HandleKind.LIBRARY) {
            client.memory().removeOwnedBy(said);
        }
    }
}
