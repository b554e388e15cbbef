package io.tessera.executor.call.dispatch;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.EntryDescriptions;
import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription.Handle;
import io.tessera.device.ParameterDescription.Pointer;
import io.tessera.device.ParameterDescription.Shape;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallPlan;
import io.tessera.executor.call.CallRow;
import io.tessera.executor.call.CallRow.Pause;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.HandleResults;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.context.ContextFamily;
import io.tessera.executor.call.graph.GraphBook;
import io.tessera.executor.call.graph.GraphFamily;
import io.tessera.executor.call.memory.MemoryFamily;
import io.tessera.executor.call.module.ModuleFamily;
import io.tessera.executor.call.texture.TextureFamily;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.hang.Watchdog;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.image.ClientImages;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.quota.Countable;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;

/**
 * Executes CALL records: looks up the call's row, reads the arguments, translates handles, checks addresses, keeps the order of streams, makes the call,
 * and records the objects that it made or ended. One owner thread; {@link #close} frees data that came in pieces.
 */
public final class CallExecutor implements AutoCloseable {
    private final DeviceContext device;
    private final DriverCalls driver;
    private final ClientHandles handles;
    private final ClientStreams streams;
    private final ClientFences fences;
    private final CallTable table;
    private final CallChecks checks;
    private final GraphFamily graphs;
    private boolean ofGraphs;
    private final MemoryFamily memory;
    private final ModuleFamily modules;
    private final TextureFamily textures;
    private final CallFrame frame;
    private final BulkData bulk;
    private final RelaySegment segment;
    private boolean unheard;

    /** Creates an instance for one client; memory of an arena that lives as long as this. */
    public CallExecutor(ClientExecution execution, ClientAllocations allocations, ClientCompletion completion, ClientImages images,
            Arena arena) {
        this.device = execution.device();
        this.driver = execution.driver();
        this.handles = execution.handles();
        this.streams = execution.streams();
        this.fences = execution.fences();
        this.table = new CallTable((called, _) -> driver.call(called.entry(), called.slots()));
        this.checks = CallChecks.of(execution, allocations.memory());
        this.frame = new CallFrame(arena);
        this.bulk = new BulkData(execution.handles().account().tenant());
        this.segment = completion.segment();
        this.graphs = new GraphFamily(execution, allocations, completion.words(), checks, table);
        this.memory = new MemoryFamily(execution, allocations, checks, graphs.memory(), table);
        this.modules = new ModuleFamily(driver, handles, fences, allocations.memory(), completion, images, checks, table);
        this.textures = new TextureFamily(device, driver, fences, handles.deferredReleases(), allocations.window(), checks, table);
        ContextFamily.register(driver, streams, completion.watch(), allocations.exports(), handles.deferredReleases(), this::endCapture,
                checks, table);
    }

    /** Returns the account of the client's graphs. */
    public GraphBook graphs() {
        return graphs.book();
    }

    CallTable table() {
        return table;
    }

    /**
     * Takes a piece of a later call's data.
     *
     * @throws RejectedException if it is not the next piece
     */
    public void bulk(MemorySegment record, int length) throws RejectedException {
        long head = RecordHeader.BYTES + RelayLayout.BULK.byteSize();
        if (length < head) {
            throw CallFrame.malformed("a piece without a head");
        }
        int bytes = record.get(WireTypes.U32, RecordHeader.BYTES + 4L);
        if (bytes < 0 || bytes > length - head) {
            throw CallFrame.malformed("a piece of " + bytes + " bytes");
        }
        bulk.append(slot(record), Integer.toUnsignedLong(record.get(WireTypes.U32, RecordHeader.BYTES)), record, head,
                bytes);
    }

    private static int slot(MemorySegment record) throws RejectedException {
        int slot = RecordHeader.slot(record);
        if (slot < 0 || slot > RelayLayout.SLOTS) {
            throw CallFrame.malformed("reply slot " + slot);
        }
        return slot;
    }

    /** Records that the program has ended: remaining calls that submit no work to a stream are not made, since all objects will be freed. */
    public void unheard() {
        unheard = true;
    }

    /** Returns whether a call makes the device work, and so waits for its tenant's turn. */
    public boolean occupiesDevice(MemorySegment record) {
        return EntryDescriptions.ofIndex(RecordHeader.entry(record)).map(table::plan).map(CallPlan::occupiesDevice).orElse(false);
    }

    /**
     * Executes a call.
     *
     * @return its CUresult; the out-data is taken by {@link #copyOut}
     * @throws RejectedException if the record is not one that a client may send
     */
    public int call(MemorySegment record, int length) throws RejectedException {
        boolean inBulk = (RecordHeader.flags(record) & RelayLayout.FLAG_BULK) != 0;
        int slot = slot(record);
        try {
            DriverEntry entry = EntryDescriptions.ofIndex(RecordHeader.entry(record))
                    .orElseThrow(() -> CallFrame.malformed("entry " + RecordHeader.entry(record)));
            CallPlan plan = table.plan(entry);
            if (unheard && (plan == null || !plan.submits())) {
                return CudaResult.UNKNOWN;
            }
            if (plan == null) {
                throw new RejectedException(CudaResult.NOT_SUPPORTED, entry + " is not relayed");
            }
            ClientContext context = streams.context(RecordHeader.context(record));
            if (context == null && !plan.row().isContextless()) {
                throw new RejectedException(CudaResult.INVALID_CONTEXT, "no context");
            }
            frame.read(plan.shape(), plan.packed(), plan.row().isTakingHostAddresses(), context, record, length, inBulk ? bulk.data(slot) : null);
            int result = execute(plan);
            if (driver.takeUnsupported() == entry && result == CudaResult.NOT_SUPPORTED && driver.port().software()) {
                segment.notice(entry + " is not supported by the software GPU, or not for this; run the program on a machine with a GPU");
            }
            return result;
        } finally {
            if (inBulk) {
                bulk.drop(slot);
            }
        }
    }

    private int execute(CallPlan plan) throws RejectedException {
        CallRow row = plan.row();
        rooms(plan);
        row.admit(frame);
        ofGraphs = row.isOfGraphs();
        handles.deferredReleases().naming(ofGraphs || streams.isAnyCapturing());
        checks.moved().begin();
        translate(plan);
        checks.addresses().check(frame, row);
        row.check(frame);
        checks.moved().check();
        capture(plan);
        row.prepare(frame);
        int result = CudaResult.UNKNOWN;
        try {
            result = submit(plan);
        } finally {
            row.complete(frame, result);
        }
        if (result == CudaResult.SUCCESS) {
            result = checks.results().take(frame, row);
        } else {
            checks.results().clear(frame);
            row.failed(frame);
        }
        return result == CudaResult.SUCCESS ? row.record(frame) : result;
    }

    private void rooms(CallPlan plan) throws RejectedException {
        for (HandleKind kind : plan.shape().makes()) {
            room(Countable.of(kind), 0);
            if (Countable.of(kind) == Countable.PROGRAM) {
                room(Countable.IMAGE, HandleResults.IMAGE_COPIES * frame.totalInBytes());
            }
        }
        if (plan.row().isMakingMemory()) {
            room(Countable.MEMORY_RANGE, 0);
        }
    }

    private void room(Countable kind, long bytes) throws RejectedException {
        String refusal = handles.account().refusal(kind, 1, bytes);
        if (refusal != null) {
            throw RejectedException.bound(refusal);
        }
    }

    /** Records a call in a captured stream as a node. */
    private void capture(CallPlan plan) throws RejectedException {
        ClientStream stream = frame.stream();
        if (!plan.isNode() || stream == null || !streams.isCapturing(stream)) {
            return;
        }
        if (plan.row().capture() != null) {
            plan.row().capture().take(frame);
        } else {
            graphs.book().captured(stream, 1, frame.totalInBytes(), checks.moved().ns());
        }
    }

    private int submit(CallPlan plan) throws RejectedException {
        ClientStream stream = frame.stream();
        boolean submits = plan.submits() && stream != null;
        if (submits) {
            streams.before(stream);
        }
        int result = plan.row().pause() == Pause.NONE || stream == null ? plan.body().call(frame, frame.context()) : pausing(plan, stream);
        if (submits) {
            if (result == CudaResult.SUCCESS) {
                plan.row().submitted(frame);
            }
            streams.moves(stream, checks.moved().ns());
            streams.after(stream);
        }
        return result;
    }

    private int pausing(CallPlan plan, ClientStream stream) throws RejectedException {
        RejectedException[] rejected = new RejectedException[1];
        IntSupplier submission = () -> {
            try {
                return plan.body().call(frame, frame.context());
            } catch (RejectedException e) {
                rejected[0] = e;
                return CudaResult.INVALID_VALUE;
            }
        };
        Watchdog watchdog = fences.watchdog();
        Pause pause = plan.row().pause();
        int result = pause == Pause.IN_GRAPH ? watchdog.pausingInGraph(stream.value(), submission)
                : watchdog.pausing(stream.value(), pause == Pause.FOR_VALUE, submission);
        if (rejected[0] != null) {
            throw rejected[0];
        }
        return result;
    }

    /** Translates handles to the driver's, devices and contexts to the executor's. Finds the stream that the call uses. */
    private void translate(CallPlan plan) throws RejectedException {
        for (int i = 0; i < frame.parameters(); i++) {
            Shape shape = frame.shape(i);
            if (shape instanceof Handle handle) {
                if (handle.kind() == HandleKind.STREAM) {
                    ClientStream stream = stream(plan, i);
                    if (i == plan.shape().stream()) {
                        frame.stream(stream);
                    }
                    frame.slot(i, stream == null ? 0 : stream.value());
                } else {
                    frame.slot(i, plan.row().ended() == handle.kind() ? ending(handle.kind(), frame.argument(i))
                            : handle(handle.kind(), frame.argument(i)));
                }
            } else if (plan.shape().isDevice(i)) {
                frame.slot(i, device.device());
            } else if (shape instanceof Pointer pointer && pointer.direction().goesIn() && pointer.element().isPresent()
                    && frame.data(i) != null) {
                elements(pointer.element().get(), i);
            }
        }
    }

    private ClientStream stream(CallPlan plan, int i) throws RejectedException {
        ClientContext context = frame.context();
        if (context == null && frame.argument(i) == 0 && plan.row().isContextless()) {
            return null; // a graph call, which needs no stream
        }
        if (plan.row().ended() == HandleKind.STREAM && Long.compareUnsigned(frame.argument(i), 2) <= 0) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "a default stream stays");
        }
        ClientStream stream = context == null ? null : streams.find(frame.argument(i), context);
        if (stream == null) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no stream of the client");
        }
        return stream;
    }

    /** Returns the driver's handle; a module that was not needed so far is loaded for it. */
    private long handle(HandleKind kind, long clientHandle) throws RejectedException {
        long value = known(kind, clientHandle);
        if (kind != HandleKind.MODULE && kind != HandleKind.LIBRARY) {
            return value;
        }
        try {
            return fences.realised(value);
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /**
     * Rejects the end of an object that ends only with its owner: a library's module, a level of a mipmapped array, a graph in a graph, a module's reference.
     */
    private long ending(HandleKind kind, long clientHandle) throws RejectedException {
        long value = known(kind, clientHandle);
        if (kind != HandleKind.GRAPH_NODE && clientHandle != 0 && !kind.deviceValue() && handles.table(kind).hasParent(clientHandle)) {
            throw new RejectedException(CudaResult.NOT_PERMITTED, "a " + kind + " that ends with what it belongs to");
        }
        return value;
    }

    private long known(HandleKind kind, long clientHandle) throws RejectedException {
        if (kind == HandleKind.CONTEXT) {
            return device.handle();
        }
        if (clientHandle == 0) {
            return 0; // some entries take none: the driver decides
        }
        long value = handles.value(kind, clientHandle);
        if (value == HandleTable.NONE) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no such " + kind + " of the client");
        }
        if (kind == HandleKind.EVENT && ofGraphs) {
            handles.deferredReleases().names(value); // nodes do not keep their events
        }
        return value;
    }

    private void elements(HandleKind kind, int i) throws RejectedException {
        MemorySegment data = frame.data(i);
        for (long at = 0; at + Long.BYTES <= frame.inBytes(i); at += Long.BYTES) {
            data.set(WireTypes.U64, at, handle(kind, data.get(WireTypes.U64, at)));
        }
    }

    /** Copies the out-data of the last call to a reply and returns its length. */
    public int copyOut(MemorySegment reply) {
        return frame.copyOut(reply);
    }

    /** Ends a module, library, texture, surface or array with its context, as a call would. Returns a CUresult. */
    public int end(HandleKind kind, long value) {
        return kind == HandleKind.MODULE || kind == HandleKind.LIBRARY ? modules.end(kind, value) : textures.end(kind, value);
    }

    /** Ends a capture that was begun on a stream and is open, and with it what was captured. */
    public void endCapture(ClientStream stream) {
        graphs.endCapture(stream);
    }

    /** Records an object that the client's end frees, as a call would. */
    public void freed(HandleKind kind, long clientHandle) {
        checks.results().ended(kind, clientHandle);
    }

    /** Removes a mapping of the program's own memory, when its context or the client ends. Returns a CUresult. */
    public int unmapped(MemoryRange range) {
        return memory.unmapped(range);
    }

    @Override
    public void close() {
        bulk.close();
    }
}
