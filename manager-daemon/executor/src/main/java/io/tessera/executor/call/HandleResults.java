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
    /** Number of copies of an image that are kept: as it came, and as it is loaded. */
    public static final int IMAGE_COPIES = 2;

    private final ClientHandles handles;
    private final DriverCalls driver;
    /** Translates a driver's handle for which the client has another value. */
    private final Shown shown;
    private final Map<HandleKind, EndListener> listeners = new EnumMap<>(HandleKind.class);

    /** Translates the driver's handle of an object to the value that the client's table has for it. */
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

    /** Sets the listener for the ends of all objects of a kind; there is one for each kind. */
    public void whenEnded(HandleKind kind, EndListener listener) {
        if (listeners.put(kind, listener) != null) {
            throw new IllegalStateException(kind + " has two listeners");
        }
    }

    /**
     * Processes a call that succeeded: the driver's handles in its out-data become the client's, and objects that it ended are removed.
     *
     * @return SUCCESS, or OUT_OF_MEMORY if the client already has the maximum number of handles
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

    /** Counts the image of a module or library, which is kept as long as that: as machine code, and often as text. */
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
        // A node that is found as the neighbour of another one ends with the same graph.
        return ofNode ? handles.table(kind).parent(frame.argument(frame.handleParameter(kind))) : parent;
    }

    /**
     * Returns the client's value for a driver's handle of an object that a node, a reference or a texture names: 0 if the client has ended that object. The
     * client gets no new handle of it, which would exist after the object's end.
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
