package io.tessera.executor.stream;

import io.tessera.clock.Clocks;
import io.tessera.clock.NanoClock;
import io.tessera.device.CudaEnums.EventFlag;
import io.tessera.device.CudaEnums.StreamFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.part.ClientPart;
import io.tessera.executor.part.ProcessorParts;
import io.tessera.executor.quota.Countable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * The streams and contexts of one client, and the order between its legacy stream and its blocking ones (RELAY.md, section 4): code that
 * submits calls {@link #before} and {@link #after}. One owner thread.
 */
public final class ClientStreams {
    /** {@link #boundNs} of a client that is alone on the device. */
    public static final long ALONE_NS = Backlog.ALONE_NS;

    private final DriverCalls driver;
    private final ClientHandles handles;
    private final Map<Integer, ClientContext> contexts = new HashMap<>();
    private final AwaitedValues awaited = new AwaitedValues();
    private final ProgressEvents progress;
    private final Backlog backlog;
    private final LongSupplier boundNs;
    private final MoveTime moves;
    private final StreamParts parts;
    /** Streams of ended contexts, with work that is not done. Guarded by its own monitor: another client asks whether that work is done. */
    private final List<ClientStream> ending = new ArrayList<>();
    private final List<LongConsumer> ends = new ArrayList<>();
    private Marks marks = (_, _) -> {};
    private Waits waits = (_, submission) -> submission.getAsInt();
    private ClientContext recent;

    /** Submits the waits of streams for other streams. */
    public interface Waits {
        /**
         * Submits the wait.
         *
         * @param submission returns a CUresult
         * @return the result of the submission
         */
        int submit(long stream, IntSupplier submission);
    }

    /** Receives the events that show the progress of streams. */
    public interface Marks {
        /**
         * Called when an event was recorded behind a stream's submissions so far.
         *
         * @param event of {@link #progress}, held by this class; a listener that needs it after the call has to share it
         */
        void marked(long stream, long event);
    }

    /** As above, on a device whose processors are not divided. */
    public ClientStreams(DriverCalls driver, ClientHandles handles, MoveTime moves) {
        this(driver, handles, moves, ProcessorParts.none(), new ClientPart(""), Clocks.system().monotonic());
    }

    /**
     * Creates an instance without contexts. The client's copies are added to those of all clients in {@code moves}.
     *
     * @param parts the parts of the device's processors
     * @param part  the part on which kernels of the client run
     */
    public ClientStreams(DriverCalls driver, ClientHandles handles, MoveTime moves, ProcessorParts parts, ClientPart part, NanoClock clock) {
        this.parts = new StreamParts(driver, parts, part, this::isCapturing, this::record, this::await, this::query);
        this.driver = driver;
        this.handles = handles;
        this.moves = moves;
        this.progress = new ProgressEvents(driver);
        this.boundNs = () -> part.turn().isGated() ? Backlog.IN_TURNS_NS : part.isBesideOthers() ? Backlog.BESIDE_NS : Backlog.ALONE_NS;
        this.backlog = new Backlog(progress, moves, clock, boundNs);
    }

    /** Sets a listener that is called with every stream, by the driver's handle, before it is destroyed. */
    public void beforeEnd(LongConsumer listener) {
        ends.add(listener);
    }

    /** Sets the object that submits the waits that the order of streams needs. */
    public void atWaits(Waits submitter) {
        waits = submitter;
    }

    /**
     * Sets the conditions that bound queued work, beside time.
     *
     * @param standing whether a stream of the client may rightfully wait for its program
     * @param awaited  whether another client makes calls for which the driver waits for all queued work of the context
     */
    public void bounds(BooleanSupplier standing, BooleanSupplier awaited) {
        backlog.ask(standing, awaited);
    }

    /** Sets a listener for the events that are recorded from time to time behind a stream's submissions. */
    public void atMarks(Marks listener) {
        marks = listener;
    }

    /** Returns the current bound on the time of a stream's queued work. */
    public long boundNs() {
        return boundNs.getAsLong();
    }

    /** Returns the progress events of this client. */
    public ProgressEvents progress() {
        return progress;
    }

    /** Makes a context; returns false if the number is in use or 0. */
    public boolean createContext(int number) {
        if (number == 0 || contexts.putIfAbsent(number, new ClientContext(number)) != null) {
            return false;
        }
        handles.account().add(Countable.CONTEXT);
        return true;
    }

    /** Returns the context of a number; null if there is none. */
    public ClientContext context(int number) {
        ClientContext known = recent;
        if (known != null && known.number == number) {
            return known;
        }
        known = contexts.get(number);
        recent = known;
        return known;
    }

    /** Returns the context of a stream that is not destroyed. */
    private ClientContext of(ClientStream stream) {
        return context(stream.context);
    }

    /** Returns all contexts. */
    public List<ClientContext> contexts() {
        return List.copyOf(contexts.values());
    }

    /**
     * Returns the stream that a record names: 0 and 1 are the context's legacy stream.
     *
     * @return null if there is no such stream, or the legacy stream cannot be made
     */
    public ClientStream find(long clientHandle, ClientContext context) {
        if (Long.compareUnsigned(clientHandle, 1) <= 0) {
            if (context.legacy == null) {
                context.legacy = open(context, false, true);
            }
            return context.legacy;
        }
        return (ClientStream) handles.table(HandleKind.STREAM).attachment(clientHandle);
    }

    /** Returns the stream of a context that has a driver's handle; null if there is none. */
    public ClientStream ofValue(long value, ClientContext context) {
        if (context.legacy != null && context.legacy.has(value)) {
            return context.legacy;
        }
        for (ClientStream stream : context.streams) {
            if (stream.has(value)) {
                return stream;
            }
        }
        return null;
    }

    private ClientStream open(ClientContext context, boolean blocking, boolean legacy) {
        int result = driver.call(DriverEntry.cuStreamCreateWithPriority, driver.out(0), StreamFlag.NON_BLOCKING, parts.processors().raised(0));
        return result == CudaResult.SUCCESS ? new ClientStream(driver.outLong(0), context.number, blocking, legacy) : null;
    }

    /** Returns the parts of the processors on which the streams are. */
    public StreamParts parts() {
        return parts;
    }

    /** Takes a stream that the driver has made for the client into its context. */
    public void created(long handle, ClientContext context, boolean blocking) {
        HandleTable table = handles.table(HandleKind.STREAM);
        ClientStream stream = new ClientStream(table.value(handle), context.number, blocking, false);
        table.attach(handle, stream);
        context.streams.add(stream);
    }

    /** Called before a stream is destroyed: streams that would have waited for its work wait for it now. */
    public void destroying(ClientStream stream) {
        ClientContext context = of(stream);
        if (stream.workSinceLegacy && context.legacy != null) {
            order(stream, context.legacy);
        }
        if (stream.workSinceJoin) {
            join(stream);
        }
        if (stream.capturing) {
            context.captures--;
        }
        parts.end(stream, ends);
        ends.forEach(listener -> listener.accept(stream.whole));
        backlog.forget(stream);
        context.streams.remove(stream);
        context.behindLegacy.remove(stream);
        if (stream.event != 0) {
            driver.call(DriverEntry.cuEventDestroy_v2, stream.event);
            stream.event = 0;
        }
    }

    /** Called before work is submitted to a stream: submits the waits for the legacy or the blocking streams. */
    public void before(ClientStream stream) {
        ClientContext context = of(stream);
        if (stream.legacy) {
            if (!context.behindLegacy.isEmpty()) {
                legacyWaits(context);
            }
        } else if (stream.blocking && stream.legacySeen != context.legacyWork) {
            waitsForLegacy(stream);
        }
    }

    private void legacyWaits(ClientContext context) {
        for (ClientStream behind : context.behindLegacy) {
            order(behind, context.legacy);
            behind.workSinceLegacy = false;
        }
        context.behindLegacy.clear();
    }

    private void waitsForLegacy(ClientStream stream) {
        ClientContext context = of(stream);
        if (context.captures > 0 && isCapturing(stream)) {
            return; // captured work has no order with the legacy stream, as with the driver itself
        }
        if (context.legacyRecorded != context.legacyWork && record(context.legacy)) {
            context.legacyRecorded = context.legacyWork;
        }
        await(stream.value, context.legacy.event);
        stream.legacySeen = context.legacyWork;
    }

    /** Called after work was submitted to a stream: updates the order between streams. */
    public void after(ClientStream stream) {
        stream.workSinceJoin = true;
        parts.worked();
        counted(stream);
        ClientContext context = of(stream);
        if (stream.legacy) {
            context.legacyWork++;
        } else if (stream.blocking && !stream.workSinceLegacy) {
            stream.workSinceLegacy = true;
            context.behindLegacy.add(stream);
        }
    }

    /** Records that a graph of this many nodes, whose copies take this long, was submitted to a stream; {@link #after} follows. */
    public void graph(ClientStream stream, long nodes, long movesNs) {
        stream.nodesSinceMark += nodes;
        stream.movesNsSinceMark += movesNs;
    }

    /** Returns the estimate of copy times, with the copies of all clients that are still to be done. */
    public MoveTime moveTime() {
        return moves;
    }

    /** Records that copies or memsets that take this long ({@link MoveTime}) were submitted to a stream; {@link #after} follows. */
    public void moves(ClientStream stream, long ns) {
        stream.movesNsSinceMark += ns;
    }

    /** Counts a submission to a stream that no other stream has to wait for. */
    public void counted(ClientStream stream) {
        if (backlog.submitted(stream) && !isCapturing(stream)) {
            long event = backlog.mark(stream);
            if (event != ProgressEvents.NONE) {
                marks.marked(stream.value, event);
            }
        }
    }

    /** Returns whether a stream has so much pending work that a driver might block the next submission. */
    public boolean isFull() {
        return backlog.isFull();
    }

    /** Returns whether a stream of the client may wait for its program by right. */
    public boolean mayStand() {
        return backlog.mayStand();
    }

    /** Destroys the remaining events: all streams and contexts have ended, and no event is held any more. */
    public void close() {
        progress.close();
    }

    /** Returns a stream that is ordered after everything submitted in a context so far; null if it cannot be made. */
    public ClientStream joined(ClientContext context) {
        if (context.joiner == null) {
            context.joiner = open(context, false, false);
        }
        if (context.joiner != null) {
            Stream.concat(Stream.of(context.legacy, context.beside).filter(Objects::nonNull), context.streams.stream())
                    .filter(stream -> stream.workSinceJoin).forEach(this::join);
        }
        return context.joiner;
    }

    /** Returns the driver's handles of streams that are ordered after everything submitted in all contexts so far. */
    public List<Long> joinAll() {
        List<Long> joiners = new ArrayList<>();
        for (ClientContext context : contexts.values()) {
            ClientStream joiner = joined(context);
            if (joiner != null) {
                joiners.add(joiner.value);
            }
        }
        return joiners;
    }

    private void join(ClientStream stream) {
        ClientContext context = of(stream);
        if (context.joiner == null) {
            context.joiner = open(context, false, false);
        }
        if (context.joiner != null) {
            order(stream, context.joiner);
            stream.workSinceJoin = false;
        }
    }

    /**
     * Returns a stream of the executor for work that follows all work submitted to a stream so far, and runs concurrently with that stream's later work; null:
     * there is none now. Later work that depends on it has to be ordered behind it with {@link #order}.
     */
    public ClientStream beside(ClientStream stream) {
        before(stream);
        ClientContext context = of(stream);
        if (context.beside == null) {
            context.beside = open(context, false, false);
        }
        return context.beside != null && order(stream, context.beside) ? context.beside : null;
    }

    /** Makes later work of a second stream wait for the work submitted to a first one so far. Returns whether it does. */
    public boolean order(ClientStream first, ClientStream second) {
        return (of(first).captures == 0 || !isCapturing(first)) && record(first) && await(second.value, first.event) == CudaResult.SUCCESS;
    }

    private int await(long stream, long event) {
        return waits.submit(stream, () -> driver.call(DriverEntry.cuStreamWaitEvent, stream, event, 0));
    }

    private boolean record(ClientStream stream) {
        if (stream.event == 0) {
            if (driver.call(DriverEntry.cuEventCreate, driver.out(0), EventFlag.DISABLE_TIMING) != CudaResult.SUCCESS) {
                return false;
            }
            stream.event = driver.outLong(0);
        }
        return driver.call(DriverEntry.cuEventRecord, stream.event, stream.value) == CudaResult.SUCCESS;
    }

    /**
     * Returns whether a stream takes part in a capture now. The driver is asked: a stream joins a capture by waiting for an event of it,
     * and a capture that went wrong may have ended without a call.
     */
    public boolean isCapturing(ClientStream stream) {
        return of(stream).captures > 0
                && driver.call(DriverEntry.cuStreamIsCapturing, stream.value, driver.out(0)) == CudaResult.SUCCESS
                && driver.outInt(0) != 0;
    }

    /** Returns whether a capture is open in any context. */
    public boolean isAnyCapturing() {
        return contexts.values().stream().anyMatch(context -> context.captures > 0);
    }

    /** Notes that a capture was begun on a stream, or is over. */
    public void capturing(ClientStream stream, boolean begins) {
        if (stream.capturing != begins) {
            stream.capturing = begins;
            of(stream).captures += begins ? 1 : -1;
        }
    }

    /** Records that a capture could not be ended as requested. If it was invalidated, it is over nevertheless, and what follows is not captured. */
    public void captureFailed(ClientStream stream) {
        capturing(stream, stream.capturing && isCapturing(stream));
    }

    /** Ends a context whose streams are all destroyed. */
    public void destroyContext(ClientContext context) {
        for (ClientStream own : context.own()) {
            if (query(own) == CudaResult.NOT_READY) {
                // A client ends only after all its work. That includes streams that it destroyed before, because the joiner waits
                // for them.
                synchronized (ending) {
                    ending.add(own);
                }
            } else {
                destroy(own);
            }
        }
        if (contexts.remove(context.number) != null) {
            handles.account().remove(Countable.CONTEXT);
        }
        recent = null;
    }

    private void destroy(ClientStream own) {
        parts.end(own, ends);
        if (own.event != 0) {
            driver.call(DriverEntry.cuEventDestroy_v2, own.event);
        }
        backlog.forget(own);
        ends.forEach(listener -> listener.accept(own.whole));
        driver.call(DriverEntry.cuStreamDestroy_v2, own.whole);
    }

    /** Queries the work of ended contexts, and destroys streams whose work is done. Returns a CUresult. */
    private int queryEnding() {
        synchronized (ending) {
            for (Iterator<ClientStream> each = ending.iterator(); each.hasNext();) {
                ClientStream own = each.next();
                int result = query(own);
                if (result != CudaResult.SUCCESS) {
                    return result;
                }
                destroy(own);
                each.remove();
            }
        }
        return CudaResult.SUCCESS;
    }

    /**
     * Records that a stream will wait for a value, or a graph whenever it is launched.
     *
     * @param flags   {@code CUstreamWaitValue_flags}
     * @param inGraph whether the wait is a node of a graph
     * @return why the wait is refused, and what to do; null: it is not
     */
    public String waits(long address, boolean wide, long value, int flags, boolean inGraph) {
        if (awaited.isFull() && query() == CudaResult.SUCCESS) {
            awaited.idle();
        }
        return awaited.add(address, wide, value, flags, inGraph);
    }

    /** Returns the values for which streams and graphs wait. */
    public AwaitedValues awaited() {
        return awaited;
    }

    /** Queries whether all work of the client is done. Returns SUCCESS, NOT_READY, or an error. */
    public int query() {
        int gone = queryEnding();
        if (gone != CudaResult.SUCCESS) {
            return gone;
        }
        for (ClientContext context : contexts.values()) {
            for (ClientStream own : context.own()) {
                int result = query(own);
                if (result != CudaResult.SUCCESS) {
                    return result;
                }
            }
            for (ClientStream stream : context.streams) {
                // A stream may have joined a capture that began on another one; a query of its work would invalidate the capture.
                int result = isCapturing(stream) ? CudaResult.SUCCESS : query(stream);
                if (result != CudaResult.SUCCESS) {
                    return result;
                }
            }
        }
        return CudaResult.SUCCESS;
    }

    /**
     * As {@link #query}, for another client of the tenant while this one's owner thread stands still. For a captured stream, the joiner waits for its
     * work before the capture, see {@link #settle}.
     *
     * @param asker the calls of the asking thread
     */
    public int queryFrom(DriverCalls asker) {
        synchronized (ending) {
            for (ClientStream own : ending) {
                int result = asker.call(DriverEntry.cuStreamQuery, own.value);
                if (result != CudaResult.SUCCESS) {
                    return result;
                }
            }
        }
        for (ClientContext context : contexts.values()) {
            for (ClientStream own : context.own()) {
                int result = queryFrom(asker, own, context);
                if (result != CudaResult.SUCCESS) {
                    return result;
                }
            }
            for (ClientStream stream : context.streams) {
                int result = queryFrom(asker, stream, context);
                if (result != CudaResult.SUCCESS) {
                    return result;
                }
            }
        }
        return CudaResult.SUCCESS;
    }

    private static int queryFrom(DriverCalls asker, ClientStream stream, ClientContext context) {
        boolean capturing = context.captures > 0
                && asker.call(DriverEntry.cuStreamIsCapturing, stream.value, asker.out(0)) == CudaResult.SUCCESS
                && asker.outInt(0) != 0;
        return capturing ? CudaResult.SUCCESS : asker.call(DriverEntry.cuStreamQuery, stream.value);
    }

    /** Called before a stream may join a capture: makes the joiner wait for the stream's work so far, which cannot be queried during the capture. */
    public void settle(ClientStream stream) {
        if (stream.workSinceJoin) {
            join(stream);
        }
    }

    /** Queries whether the work of one stream is done. Returns a CUresult. */
    public int query(ClientStream stream) {
        return driver.call(DriverEntry.cuStreamQuery, stream.value);
    }
}
