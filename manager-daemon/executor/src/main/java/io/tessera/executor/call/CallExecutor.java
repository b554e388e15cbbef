package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.device.EntryDescriptions;
import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription.Handle;
import io.tessera.device.ParameterDescription.Pointer;
import io.tessera.device.ParameterDescription.Shape;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.fence.ProgramRefusedException;
import io.tessera.executor.fence.Watchdog;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.handle.Holdovers;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.quota.Countable;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;

/**
 * Executes CALL records: reads the arguments, translates handles, checks addresses, keeps the order of streams, calls the
 * driver, and keeps book of what came and went. One owner thread; {@link #close} frees what came in pieces.
 */
public final class CallExecutor implements AutoCloseable {
    private static final long NON_BLOCKING = 1;
    /** Work of streams that is no node of a graph. */
    private static final Set<String> WITHOUT_NODES = Set.of("cuEventRecord", "cuStreamWaitEvent", "cuStreamIsCapturing", "cuStreamQuery",
            "cuStreamSynchronize");

    private final ClientState client;
    private final CallFrame frame;
    private final BulkData bulk;
    private boolean unheard;
    private final MemoryCalls memory;
    private final AddressCheck addresses;
    private final Holdovers holdovers;
    private final Endings endings;
    private final ArrayBounds arrays;
    private final CopyStructures copies;
    private final MovedBytes moved;
    private final GraphMemoryCalls graphMemory;
    private final VirtualMemoryCalls virtualCalls;
    private final HandleResults results;
    private final NullStream nullStream;
    private final Map<String, SpecialCall> specials;

    /** For one client; memory of an arena that lives as long as this. */
    public CallExecutor(ClientState client, Arena arena) {
        this.client = client;
        this.frame = new CallFrame(arena);
        this.bulk = new BulkData(client.handles().account().tenant());
        VirtualMemory virtual = new VirtualMemory();
        this.memory = new MemoryCalls(client, virtual);
        this.virtualCalls = new VirtualMemoryCalls(client, virtual);
        this.graphMemory = new GraphMemoryCalls(client);
        this.holdovers = client.handles().holdovers();
        this.moved = client.graphs().movedBytes();
        this.addresses = new AddressCheck(client.memory(), client.streams(), holdovers, moved);
        this.arrays = new ArrayBounds(client.driver(), holdovers, moved);
        this.copies = new CopyStructures(client.handles(), addresses, arrays, client.device().handle());
        this.results = new HandleResults(client, memory);
        this.nullStream = new NullStream(client, moved);
        this.endings = new Endings(client);
        this.specials = SpecialCalls.of(client, results, addresses, copies, virtualCalls, graphMemory, endings);
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

    /** The program has ended: what no stream does of what it has left needs not be done, all it had is freed. */
    public void unheard() {
        unheard = true;
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
            CallPlan plan = CallPlan.of(entry);
            if (unheard && !plan.submits) {
                return CudaResult.UNKNOWN;
            }
            if (!plan.served) {
                throw new RejectedException(CudaResult.NOT_SUPPORTED, entry + " is not relayed");
            }
            ClientContext context = client.streams().context(RecordHeader.context(record));
            if (context == null && !plan.contextless) {
                throw new RejectedException(CudaResult.INVALID_CONTEXT, "no context");
            }
            MemorySegment data = inBulk ? bulk.data(slot) : null;
            frame.read(plan, record, length, data);
            return execute(plan, context);
        } finally {
            if (inBulk) {
                bulk.drop(slot);
            }
        }
    }

    private int execute(CallPlan plan, ClientContext context) throws RejectedException {
        for (HandleKind kind : plan.makes) {
            room(Countable.of(kind), 0);
            if (Countable.of(kind) == Countable.PROGRAM) {
                room(Countable.IMAGE, HandleResults.IMAGE_COPIES * frame.totalInBytes());
            }
        }
        if (plan.makesMemory) {
            room(Countable.MEMORY_RANGE, 0);
        }
        if (plan.ofGraphs) {
            client.graphs().before(frame);
        }
        holdovers.naming(plan.ofGraphs || client.streams().isAnyCapturing());
        moved.begin();
        ClientStream stream = translate(plan, context);
        addresses.check(frame);
        structures(plan);
        moved.check();
        captured(plan, stream);
        memory.before(frame);
        int contextNumber = context == null ? 0 : context.number();
        int result = CudaResult.UNKNOWN;
        try {
            settle(plan, context, stream);
            if (plan.submits && stream != null) {
                client.streams().before(stream);
            }
            result = mayPause(plan) && stream != null ? pausing(plan, context, stream) : invoke(plan, context, stream);
            if (plan.submits && stream != null) {
                submitted(plan, stream, result);
            }
        } finally {
            memory.after(frame, contextNumber, result);
        }
        if (result == CudaResult.SUCCESS) {
            long function = Lifetimes.makesFunction(plan) ? frame.data(0).get(WireTypes.U64, 0) : 0;
            result = results.take(frame, contextNumber);
            if (function != 0 && result == CudaResult.SUCCESS) {
                result = got(frame.data(0).get(WireTypes.U64, 0), function);
            }
        } else {
            results.clear(frame);
            if (plan.api().equals("cuStreamEndCapture") && stream != null) {
                client.streams().captureFailed(stream);
                captureOver(stream, HandleTable.NONE);
            }
        }
        if (result == CudaResult.SUCCESS) {
            graphMemory.after(frame);
            if (plan.ofGraphs) {
                client.graphs().after(frame);
            }
            streamState(plan, context, stream);
        }
        return result;
    }

    private void submitted(CallPlan plan, ClientStream stream, int result) {
        if (result == CudaResult.SUCCESS && plan.api().equals("cuGraphLaunch") && !client.streams().isCapturing(stream)) {
            client.fences().watchdog().graphLaunched(stream.value());
            client.streams().graph(stream, client.graphs().nodes(frame.said(0)), client.graphs().movesNs(frame.said(0)));
        }
        client.streams().moves(stream, moved.ns());
        client.streams().after(stream);
    }

    private void room(Countable kind, long bytes) throws RejectedException {
        String refusal = client.handles().account().refusal(kind, 1, bytes);
        if (refusal != null) {
            throw RejectedException.bound(refusal);
        }
    }

    /** What a stream is told while it takes part in a capture is a node. */
    private void captured(CallPlan plan, ClientStream stream) throws RejectedException {
        if (plan.submits && stream != null && !WITHOUT_NODES.contains(plan.api()) && client.streams().isCapturing(stream)) {
            if (plan.api().equals("cuGraphLaunch")) {
                client.graphs().capturedGraph(stream, frame.said(0));
            } else {
                client.graphs().captured(stream, 1, frame.totalInBytes(), moved.ns());
            }
        }
    }

    private void captureOver(ClientStream stream, long graph) {
        if (!stream.isOriginOfCapture()) {
            client.graphs().captureEnds(stream, graph);
            holdovers.captureEnded();
        }
    }

    private int got(long said, long function) {
        try {
            client.fences().kernels().got(said, function);
            return CudaResult.SUCCESS;
        } catch (ProgramRefusedException e) {
            return e.result();
        }
    }

    /** What a stream did before it takes part in a capture is waited for elsewhere: it cannot be asked any more. */
    private void settle(CallPlan plan, ClientContext context, ClientStream stream) {
        boolean may = plan.api().startsWith("cuStreamBeginCapture")
                || plan.api().equals("cuStreamWaitEvent") && client.streams().isAnyCapturing();
        if (may && stream != null) {
            client.streams().settle(stream);
        }
    }

    private static boolean waitsForValues(CallPlan plan) {
        return switch (plan.api()) {
            case "cuStreamWaitValue32", "cuStreamWaitValue64", "cuStreamBatchMemOp" -> true;
            default -> false;
        };
    }

    /** Whether a stream may stand still at a call, for the program itself or for other work. */
    private static boolean mayPause(CallPlan plan) {
        return waitsForValues(plan) || plan.api().equals("cuStreamWaitEvent") || plan.api().equals("cuGraphLaunch");
    }

    private int pausing(CallPlan plan, ClientContext context, ClientStream stream) throws RejectedException {
        RejectedException[] rejected = new RejectedException[1];
        IntSupplier submission = () -> {
            try {
                return invoke(plan, context, stream);
            } catch (RejectedException e) {
                rejected[0] = e;
                return CudaResult.INVALID_VALUE;
            }
        };
        Watchdog watchdog = client.fences().watchdog();
        int result = plan.api().equals("cuGraphLaunch") ? watchdog.pausingInGraph(stream.value(), submission)
                : watchdog.pausing(stream.value(), waitsForValues(plan), submission);
        if (rejected[0] != null) {
            throw rejected[0];
        }
        return result;
    }

    private int invoke(CallPlan plan, ClientContext context, ClientStream stream) throws RejectedException {
        SpecialCall special = specials.get(plan.api());
        if (special != null) {
            return special.call(frame, context);
        }
        switch (plan.api()) {
            case "cuStreamCreate", "cuStreamCreateWithPriority" -> {
                frame.want(0, Long.BYTES);
                frame.slot(1, frame.slot(1) | NON_BLOCKING);
            }
            case "cuStreamDestroy" -> {
                client.streams().destroying(stream);
                client.fences().watchdog().forget(stream.value());
            }
            case "cuGraphDestroy" -> {
                return GraphEnd.destroy(client.driver(), frame.slot(0));
            }
            case "cuEventDestroy" -> {
                client.watch().forget(frame.slot(0));
                return client.exports().destroyEvent(frame.slot(0));
            }
            default -> {
                if (plan.onNullStream) {
                    return nullStream.call(frame, context);
                }
            }
        }
        return client.driver().call(plan.entry(), frame.slots());
    }

    /** Handles become the driver's, devices and contexts the executor's. Returns the stream that the call works on. */
    private ClientStream translate(CallPlan plan, ClientContext context) throws RejectedException {
        ClientStream working = null;
        for (int i = 0; i < plan.shapes.length; i++) {
            Shape shape = plan.shapes[i];
            if (shape instanceof Handle handle) {
                if (handle.kind() == HandleKind.STREAM) {
                    ClientStream stream = stream(plan, context, i);
                    working = i == plan.stream ? stream : working;
                    frame.slot(i, stream == null ? 0 : stream.value());
                } else {
                    frame.slot(i, Lifetimes.ends(plan) == handle.kind() ? ending(handle.kind(), frame.said(i))
                            : handle(handle.kind(), frame.said(i)));
                }
            } else if (plan.isDevice(i)) {
                frame.slot(i, client.device().device());
            } else if (shape instanceof Pointer pointer && pointer.direction().goesIn() && pointer.element().isPresent()
                    && frame.data(i) != null) {
                elements(pointer.element().get(), i);
            }
        }
        return working;
    }

    private ClientStream stream(CallPlan plan, ClientContext context, int i) throws RejectedException {
        if (context == null && frame.said(i) == 0 && plan.contextless) {
            return null; // a graph call that may go without a stream
        }
        if (plan.api().equals("cuStreamDestroy") && Long.compareUnsigned(frame.said(i), 2) <= 0) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "a default stream stays");
        }
        ClientStream stream = context == null ? null : client.streams().find(frame.said(i), context);
        if (stream == null) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no stream of the client");
        }
        return stream;
    }

    /** The driver's handle; a module that was not needed so far is loaded for it. */
    private long handle(HandleKind kind, long said) throws RejectedException {
        long value = known(kind, said);
        if (kind != HandleKind.MODULE && kind != HandleKind.LIBRARY) {
            return value;
        }
        try {
            return client.fences().realised(value);
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /** What belongs to something ends with that alone: a library's module, a level of a mipmapped array, a graph in a graph, a module's reference. */
    private long ending(HandleKind kind, long said) throws RejectedException {
        long value = known(kind, said);
        if (kind != HandleKind.GRAPH_NODE && said != 0 && !kind.deviceValue() && client.handles().table(kind).hasParent(said)) {
            throw new RejectedException(CudaResult.NOT_PERMITTED, "a " + kind + " that ends with what it belongs to");
        }
        return value;
    }

    private long known(HandleKind kind, long said) throws RejectedException {
        if (kind == HandleKind.CONTEXT) {
            return client.device().handle();
        }
        if (said == 0) {
            return 0; // some entries take none: the driver decides
        }
        long value = client.handles().value(kind, said);
        if (value == HandleTable.NONE) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no such " + kind + " of the client");
        }
        return value;
    }

    private void elements(HandleKind kind, int i) throws RejectedException {
        MemorySegment data = frame.data(i);
        for (long at = 0; at + Long.BYTES <= frame.inBytes(i); at += Long.BYTES) {
            data.set(WireTypes.U64, at, handle(kind, data.get(WireTypes.U64, at)));
        }
    }

    private void structures(CallPlan plan) throws RejectedException {
        arrays.rows(frame);
        if (CopyStructures.isPlane(plan.api())) {
            copies.plane(frame.required(0));
        } else if (CopyStructures.isBox(plan.api())) {
            copies.box(frame.required(0), plan.api().contains("Peer"));
        }
        Locations.translate(frame, client.device().device());
    }

    private void streamState(CallPlan plan, ClientContext context, ClientStream stream) {
        switch (plan.api()) {
            case "cuStreamCreate", "cuStreamCreateWithPriority" -> client.streams().created(
                    frame.data(0).get(WireTypes.U64, 0), context, (frame.said(1) & NON_BLOCKING) == 0);
            case "cuStreamBeginCapture", "cuStreamBeginCaptureToGraph" -> {
                client.streams().capturing(stream, true);
                client.graphs().captureBegins(stream, plan.api().equals("cuStreamBeginCapture") ? HandleTable.NONE : frame.said(1));
            }
            case "cuStreamEndCapture" -> {
                client.streams().capturing(stream, false);
                captureOver(stream, frame.data(1).get(WireTypes.U64, 0));
            }
            default -> {
            }
        }
    }

    /** Copies the out-data of the last call to a reply and returns its length. */
    public int copyOut(MemorySegment reply) {
        return frame.copyOut(reply);
    }

    /** Ends a module, library, texture, surface or array with its context, as a call would. Returns a CUresult. */
    public int end(HandleKind kind, long value) {
        return endings.end(kind, value);
    }

    /** Keeps book of what the client's end frees, as a call would. */
    public void freed(HandleKind kind, long said) {
        results.ended(kind, said);
    }

    /** Takes away a mapping of the program's own memory, at the end of what it was for. Returns a CUresult. */
    public int unmapped(MemoryRange range) {
        return virtualCalls.unmap(List.of(range));
    }

    @Override
    public void close() {
        bulk.close();
    }
}
