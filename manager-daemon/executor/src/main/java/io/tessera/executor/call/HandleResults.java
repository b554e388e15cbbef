package io.tessera.executor.call;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.Extent;
import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription.Pointer;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.quota.Countable;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayHandle;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;

/** Enters the objects that calls make into the client's tables, and removes those that calls end. One owner thread. */
public final class HandleResults {
    /** Copies of an image: as it came, and as it is loaded. */
    public static final int IMAGE_COPIES = 2;

    private final ClientHandles handles;
    private final DriverCalls driver;
    /** Translates a driver's handle for which the client has another value. */
    private final Shown shown;
    private final Map<HandleKind, EndListener> listeners = new EnumMap<>(HandleKind.class);

    /** The driver's handle by which the client knows something. */
    @FunctionalInterface
    public interface Shown {
        /** Returns the value in the client's table for a driver's handle. */
        long value(HandleKind kind, long value);
    }

    /**
     * Receives the ends of a client's objects, while the client's table still has the object, or, where the driver counts references, when the last one is
     * released.
     */
    @FunctionalInterface
    public interface EndListener {
        /**
         * Called when an object has ended.
         *
         * @param clientHandle the client's handle
         * @param value        the driver's handle, which is no longer valid
         */
        void ended(long clientHandle, long value);
    }

    /** Creates an instance for one client. */
    public HandleResults(ClientHandles handles, DriverCalls driver, Shown shown) {
        this.handles = handles;
        this.driver = driver;
        this.shown = shown;
    }

    /** Tells a listener of everything of a kind that is over. One for each kind. */
    public void whenEnded(HandleKind kind, EndListener listener) {
        if (listeners.put(kind, listener) != null) {
            throw new IllegalStateException(kind + " has two listeners");
        }
    }

    /**
     * After a call that succeeded: driver's handles in its out-data become the client's, what it ended is forgotten.
     *
     * @return SUCCESS, or OUT_OF_MEMORY if the client has as many handles as there can be
     */
    public int take(CallFrame frame, CallRow row) {
        HandleKind ended = row.ended();
        if (ended != null) {
            ended(ended, frame.argument(0));
        }
        int result = CudaResult.SUCCESS;
        for (int i = 0; i < frame.parameters(); i++) {
            if (frame.shape(i) instanceof Pointer pointer && pointer.direction().comesOut() && frame.data(i) != null
                    && pointer.element().isPresent() && !frame.isPacked(i)) {
                HandleKind kind = pointer.element().get();
                if (!elements(frame, row, i, kind, count(frame, pointer))) {
                    result = CudaResult.OUT_OF_MEMORY;
                }
                if (kind == HandleKind.MODULE || kind == HandleKind.LIBRARY) {
                    image(kind, frame.data(i).get(WireTypes.U64, 0), frame.totalInBytes());
                }
            }
        }
        return result;
    }

    /** The image of a module or library is kept as long as it is: as machine code, and often as text. */
    private void image(HandleKind kind, long clientHandle, long bytes) {
        HandleTable table = handles.table(kind);
        if (table.value(clientHandle) != HandleTable.NONE && table.attachment(clientHandle) == null) {
            table.attach(clientHandle, IMAGE_COPIES * bytes);
            handles.account().add(Countable.IMAGE, 1, IMAGE_COPIES * bytes);
        }
    }

    /** Clears the results of a failed call: the driver's own handles are not sent to clients. */
    public void clear(CallFrame frame) {
        for (int i = 0; i < frame.parameters(); i++) {
            if (frame.shape(i) instanceof Pointer pointer && pointer.direction().comesOut()
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
            case Extent.Text _,Extent.Handwritten _ -> 1;
        };
    }

    private boolean elements(CallFrame frame, CallRow row, int i, HandleKind kind, long count) {
        MemorySegment data = frame.data(i);
        long parent = row.parent() == null ? parent(frame, kind) : row.parent().applyAsLong(frame);
        boolean all = true;
        for (long at = 0; at < Math.min(count * Long.BYTES, data.byteSize() - Long.BYTES + 1); at += Long.BYTES) {
            long value = data.get(WireTypes.U64, at);
            long handle = row.isNamingOnly() ? known(kind, value) : translated(kind, value, parent, frame.contextNumber());
            all &= row.isNamingOnly() || handle != HandleTable.NONE || value == 0;
            data.set(WireTypes.U64, at, handle);
        }
        return all;
    }

    private long parent(CallFrame frame, HandleKind kind) {
        long parent = Lifetimes.parent(frame, kind);
        boolean ofNode = kind == HandleKind.GRAPH_NODE && parent == HandleTable.NONE && frame.handleParameter(kind) >= 0;
        // Neighbours of a node end with its graph.
        return ofNode ? handles.table(kind).parent(frame.argument(frame.handleParameter(kind))) : parent;
    }

    /**
     * Returns the client's value for a driver's handle of something that a node, a reference or a texture names: 0 if the client has ended it. It gets no new
     * handle of that, since it would keep it beyond the end.
     */
    public long known(HandleKind kind, long value) {
        return value == 0 ? 0 : handles.find(kind, shown.value(kind, value));
    }

    /** Returns the library of a function or kernel; NONE: it has none. */
    public long library(long clientHandle) {
        for (long parent = clientHandle; parent != HandleTable.NONE;) {
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

    /** As above, for a handle in a structure: nodes of graphs are found in this way for the first time, all others are {@link #known}. */
    public long named(HandleKind kind, long value, long parent, int context) {
        return kind == HandleKind.GRAPH_NODE || kind == HandleKind.GRAPH ? translated(kind, value, parent, context) : known(kind, value);
    }

    /**
     * As above, for the function of a node, which the client may know only as a kernel of a library.
     *
     * @param kernel the driver's kernel; 0: the driver does not report it
     */
    public long function(long function, long kernel, int context) {
        long clientHandle = known(HandleKind.FUNCTION, function);
        if (clientHandle != HandleTable.NONE || function == 0) {
            return clientHandle;
        }
        for (long known : handles.ofContext(HandleKind.KERNEL, -1)) {
            long value = handles.value(HandleKind.KERNEL, known);
            boolean its = value == kernel || kernel == 0 && driver.call(DriverEntry.cuKernelGetFunction, driver.out(0), value) == CudaResult.SUCCESS
                    && driver.outLong(0) == function;
            if (its) {
                return translated(HandleKind.FUNCTION, function, known, context);
            }
        }
        return HandleTable.NONE;
    }

    /** Returns the client's value for a driver's handle; 0 for 0. */
    public long translated(HandleKind kind, long value, long parent, int context) {
        if (value == 0) {
            return 0;
        }
        return handles.put(kind, shown.value(kind, value), parent, Lifetimes.context(kind, context));
    }

    /** Removes an object that has ended, and those that end with it. */
    public void ended(HandleKind kind, long clientHandle) {
        EndListener listener = listeners.get(kind);
        long value = handles.value(kind, clientHandle);
        if (Lifetimes.counted(kind)) {
            if (handles.release(kind, clientHandle) && listener != null) {
                listener.ended(clientHandle, value);
            }
            return;
        }
        if (listener != null) {
            listener.ended(clientHandle, value);
        }
        if (!kind.deviceValue() && handles.table(kind).attachment(clientHandle) instanceof Long bytes) {
            handles.account().add(Countable.IMAGE, -1, -bytes);
        }
        handles.remove(kind, clientHandle);
        handles.deferredReleases().ended(kind);
    }
}
