package io.tessera.executor.session;

import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.dispatch.CallExecutor;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.FatalErrors;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.launch.LaunchExecutor;
import io.tessera.executor.launch.LaunchResult;
import io.tessera.executor.print.ClientPrinting;
import io.tessera.executor.query.QueryExecutor;
import io.tessera.executor.quota.Countable;
import io.tessera.executor.ring.RecordHandler;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.CompletionCounters;
import io.tessera.executor.stream.EventWatch;
import io.tessera.executor.turn.SubmissionGate;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.os.FutexPort;
import io.tessera.os.LinuxException;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import io.tessera.protocol.relay.ReplySlot;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes every record of a client to the object that executes it, and puts the result where the client looks for it. A record that is refused harms no other
 * client, whatever it contains. One owner thread.
 */
public final class RecordDispatcher implements RecordHandler, AutoCloseable {
    /** Interval of checks while the last mark of an ending program is open: the program's end waits for it. */
    private static final long SLEEP_LAST_NS = 200_000L;
    /** Bound on last marks, of which a program has one for each context. Beyond it they are treated like other marks, so that checks are bounded. */
    private static final int MOST_LAST_MARKS = 64;
    /** Interval of attempts while a check for stray writes is owed. */
    private static final long SLEEP_OWED_NS = 50_000_000L;
    private static final long HANDLE = RecordHeader.BYTES + offset(RelayLayout.MARK, "handle");
    private static final long VALUE = RecordHeader.BYTES + offset(RelayLayout.MARK, "value");
    private static final long WORD = RecordHeader.BYTES + offset(RelayLayout.MARK, "word");
    private static final long MARK_END = RecordHeader.BYTES + RelayLayout.MARK.byteSize();
    private static final RecordKind[] KINDS = RecordKind.values();
    private static final Logger LOG = LoggerFactory.getLogger(RecordDispatcher.class);

    private final DriverCalls driver;
    private final ClientHandles handles;
    private final ClientStreams streams;
    private final SubmissionGate.Client turn;
    private final ClientFences fences;
    private final RelaySegment segment;
    private final CompletionCounters words;
    private final EventWatch watch;
    private final ClientPrinting printing;
    private final FutexPort futex;
    private final NanoClock clock;
    private final Reports reports;
    private final BooleanSupplier pauses;
    private final CallExecutor calls;
    private final LaunchExecutor launches;
    private final QueryExecutor queries;
    private final ClientResources resources;
    private final RecordCounters counters = new RecordCounters();
    private final ReplySlot[] replies = new ReplySlot[RelayLayout.SLOTS];
    private final MarkWatch marks;
    private final RefusalLog refusals;
    private final AwaitedMark awaited;
    private int lastMarks;
    private final RecordBatching batching;
    /** When the last launch or call returned from the driver. */
    private long workNs;
    private int outBytes;
    /** The answer to every record after a loss of the context; 0 before. It is not read from the segment, where the client may write. */
    private int lostResult;
    /** Whether this client has seen the loss of the context. Read by another thread. */
    private volatile boolean sawLoss;
    private boolean gone;
    private boolean unheard;

    /**
     * Creates an instance for one client. It closes the objects that execute the client's calls.
     *
     * @param pauses whether the following records have to wait; asked after each record
     */
    public RecordDispatcher(ClientExecution execution, ClientCompletion completion, RecordExecutors executors, FutexPort futex, NanoClock clock,
            Reports reports, BooleanSupplier pauses) {
        this.driver = execution.driver();
        this.handles = execution.handles();
        this.streams = execution.streams();
        this.turn = streams.parts().turn();
        this.fences = execution.fences();
        this.segment = completion.segment();
        this.words = completion.words();
        this.watch = completion.watch();
        this.printing = completion.printing();
        this.clock = clock;
        this.futex = futex;
        this.reports = reports;
        this.pauses = pauses;
        this.calls = executors.calls();
        this.launches = executors.launches();
        this.queries = executors.queries();
        this.resources = executors.resources();
        this.marks = new MarkWatch(segment, streams);
        this.refusals = new RefusalLog(Thread.currentThread().getName() + " of tenant \""
                + fences.member().tenant() + "\"");
        this.awaited = new AwaitedMark(streams, fences, words, segment, marks);
        this.batching = new RecordBatching(driver::burstBegins, driver::burstEnds);
        for (int slot = 0; slot < replies.length; slot++) {
            replies[slot] = segment.reply(slot);
        }
    }

    RecordCounters counters() {
        return counters;
    }

    RecordBatching batching() {
        return batching;
    }

    MarkWatch marks() {
        return marks;
    }

    /** Returns whether the program waits for a mark that is open here. */
    boolean isAwaited() {
        return awaited.isOpen();
    }

    /** Polls a mark that the program waits for. Called between records. */
    void pollAwaited(long nowNs) {
        if (awaited.isOpen() && !isLost()) {
            noticed(awaited.poll(nowNs));
        }
    }

    /** Makes up for a check for stray writes that was left out while a program waited. Called between records. */
    void makeUpChecks(long nowNs) {
        if (fences.strayWrites().isOwed() && !isLost() && !awaited.isOpen() && !marks.isOut()) {
            fences.strayWrites().makeUp(nowNs);
        }
    }

    /** Returns how long the client's thread may sleep at most, in ns, so that work that is due between records is not late. */
    long sleepNs(long otherwise) {
        return awaited.isOpen() ? SLEEP_LAST_NS : fences.strayWrites().isOwed() ? SLEEP_OWED_NS : otherwise;
    }

    /** Checks results that the program did not wait for, after the client has left and its work is done. */
    void lookLast() {
        fences.strayWrites().end();
    }

    /** Records an error that is not the answer of a record. */
    private void noticed(int result) {
        if (FatalErrors.isFatal(result) && !isLost()) {
            lose(result, "an awaited mark");
        } else if (result != CudaResult.SUCCESS) {
            segment.callError(result);
        }
    }

    /** Records that make the device work wait for the tenant's turn, as long as the client is there to ask for it. All others are admitted. */
    @Override
    public boolean admits(MemorySegment record, int length) {
        if (turn.isGated() && !isLost() && !unheard && occupiesDevice(record, length) && !turn.mayGo()) {
            return false;
        }
        turn.goes();
        return isLost() || !launches.mayTakeLong(record, length) || !comesAgain(record, length);
    }

    private boolean comesAgain(MemorySegment record, int length) {
        if (awaited.isOpen()) {
            noticed(awaited.submit()); // the open mark comes before the launch
        }
        return launched(launches.comesAgain(record, length)).isUnfinished();
    }

    /** Returns whether the next record is a launch that is in progress. */
    boolean isLaunching() {
        return !isLost() && launches.isLaunching();
    }

    private boolean occupiesDevice(MemorySegment record, int length) {
        int kind = RecordHeader.kind(record);
        return kind == RecordKind.LAUNCH.code() || kind == RecordKind.CALL.code() && calls.occupiesDevice(record);
    }

    @Override
    public boolean record(MemorySegment record, int length) {
        counters.record();
        batching.record();
        if (awaited.isOpen() && !isLost()) {
            noticed(awaited.submit());
        }
        outBytes = 0;
        int kind = RecordHeader.kind(record);
        int slot = RecordHeader.slot(record);
        boolean replies = slot > 0 && slot <= RelayLayout.SLOTS && kind != RecordKind.BULK.code();
        int result;
        try {
            if (slot < 0 || slot > RelayLayout.SLOTS || kind >= KINDS.length) {
                throw new RejectedException(CudaResult.INVALID_VALUE, "kind " + kind + ", slot " + slot);
            }
            result = isLost() ? lostResult : unheard && replies ? CudaResult.UNKNOWN : execute(KINDS[kind], record, length, slot);
        } catch (RejectedException e) {
            counters.reject();
            result = e.result();
            if (refusals.refused(record, e)) {
                segment.notice(e.getMessage());
            }
        } catch (IndexOutOfBoundsException | NullPointerException | ArithmeticException e) {
            // An unexpected error must not end the client. The record is refused, and the error is a defect of the executor.
            counters.reject();
            result = CudaResult.INVALID_VALUE;
            LOG.error("a record of kind {}, entry {} was not checked well enough", kind, RecordHeader.entry(record), e);
        }
        if (FatalErrors.isFatal(result) && !isLost()) {
            lose(result, "answer of " + KINDS[Math.min(kind, KINDS.length - 1)]);
            result = lostResult;
        }
        if (replies) {
            answer(slot - 1, result);
        } else if (result != CudaResult.SUCCESS) {
            segment.callError(result);
        }
        return !streams.isFull() && !pauses.getAsBoolean();
    }

    /**
     * Records the loss of the context: no call reaches the driver any more. This client's error is decided together with those of all clients, since another
     * client may have caused the error.
     */
    void lose(int result, String reason) {
        gone = true;
        lostResult = result;
        sawLoss = true;
        reports.contextLost(result, reason);
        BoundedWait.begin(clock, WaitLimit.LOSS).until(() -> segment.contextError() != CudaResult.SUCCESS);
        int told = segment.contextError();
        refuse(told == CudaResult.SUCCESS ? result : told);
    }

    /** Returns whether a call of this client has reported the loss of the context. */
    boolean hasSeenLoss() {
        return sawLoss;
    }

    /** Answers every record with this result from now on; no record reaches the driver. */
    void refuse(int result) {
        lostResult = result;
        segment.contextError(result);
    }

    /** Records that the program has ended. Its remaining work for streams is still submitted; other calls are no longer made. */
    void unheard() {
        unheard = true;
        calls.unheard();
    }

    /** Returns whether the context is lost for all clients, with everything in it. */
    boolean isGone() {
        return gone;
    }

    /** Returns whether nothing of the client reaches the driver any more. */
    boolean isLost() {
        return lostResult != CudaResult.SUCCESS;
    }

    private int execute(RecordKind kind, MemorySegment record, int length, int slot) throws RejectedException {
        switch (kind) {
            case LAUNCH -> {
                counters.launch();
                return launched(launches.launch(record, length)).status();
            }
            case CALL -> {
                counters.call();
                fences.kernels().called();
                int result = calls.call(record, length);
                workNs = clock.nanoTime();
                if (slot != 0) {
                    outBytes = calls.copyOut(replies[slot - 1].data());
                }
                return result;
            }
            case MARK -> {
                return mark(record, length, slot != 0);
            }
            case BULK -> {
                calls.bulk(record, length);
                return CudaResult.SUCCESS;
            }
            case WATCH_EVENT -> {
                int result = watch(record, length);
                return slot == 0 && result == CudaResult.NOT_READY ? CudaResult.SUCCESS : result;
            }
            case HOST_CALL -> {
                return hostCall(record, length);
            }
            case CONTEXT -> {
                return context(record, length);
            }
            case QUERY -> {
                if (slot == 0) {
                    throw new RejectedException(CudaResult.INVALID_VALUE, "a query that nobody hears");
                }
                int result = queries.query(record, length, replies[slot - 1].data());
                outBytes = queries.bytes();
                return result;
            }
            case PADDING -> {
                return CudaResult.SUCCESS;
            }
        }
        throw new IllegalStateException("kind " + kind);
    }

    private LaunchResult launched(LaunchResult result) {
        if (result.stream() != null) {
            marks.submitted();
            workNs = result.returnedNs();
        }
        return result;
    }

    private void answer(int slot, int result) {
        ReplySlot reply = replies[slot];
        if (reply.answer(result, outBytes)) {
            try {
                futex.wake(reply.sequenceWord());
            } catch (LinuxException e) {
                throw new IllegalStateException("a client cannot be woken", e); // only for an address that is not mapped
            }
        }
    }

    private int word(MemorySegment record, int length) throws RejectedException {
        if (length < MARK_END) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "a mark without a word");
        }
        int word = record.get(WireTypes.U32, WORD);
        if (word < 0 || word >= RelayLayout.WORDS) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "word " + word);
        }
        return word;
    }

    private ClientContext context(MemorySegment record) throws RejectedException {
        ClientContext context = streams.context(RecordHeader.context(record));
        if (context == null) {
            throw new RejectedException(CudaResult.INVALID_CONTEXT, "no context");
        }
        return context;
    }

    private ClientStream stream(MemorySegment record, boolean allAllowed) throws RejectedException {
        ClientContext context = context(record);
        long clientHandle = record.get(WireTypes.U64, HANDLE);
        ClientStream stream = allAllowed && clientHandle == RelayLayout.ALL_STREAMS ? streams.joined(context)
                : streams.find(clientHandle, context);
        if (stream == null) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no stream of the client");
        }
        return stream;
    }

    /** Executes a mark. One with an answer is a query: SUCCESS if the stream had already reached it, else NOT_READY. */
    private int mark(MemorySegment record, int length, boolean query) throws RejectedException {
        int word = word(record, length);
        long value = record.get(WireTypes.U64, VALUE);
        ClientStream stream = stream(record, true);
        streams.before(stream);
        if (streams.isCapturing(stream)) {
            return CudaResult.STREAM_CAPTURE_UNSUPPORTED;
        }
        int before = query ? driver.call(DriverEntry.cuStreamQuery, stream.value()) : CudaResult.SUCCESS;
        if (before != CudaResult.SUCCESS && before != CudaResult.NOT_READY) {
            return before;
        }
        if ((RecordHeader.flags(record) & RelayLayout.FLAG_WAITED) != 0 && !query) {
            if ((RecordHeader.flags(record) & RelayLayout.FLAG_LAST) != 0 && lastMarks < MOST_LAST_MARKS) {
                lastMarks++;
                awaited.openLast(stream, word, value);
                return CudaResult.SUCCESS;
            }
            long nowNs = clock.nanoTime();
            fences.strayWrites().begin(stream.value(), workNs, nowNs);
            if (!printing.prints()) {
                return awaited.open(stream, word, value, nowNs - workNs);
            }
        }
        int result = words.write(stream, word, value);
        if (result == CudaResult.SUCCESS) {
            streams.counted(stream);
            marks.added(stream, word, value);
            result = printing.marked(stream.value(), word, value);
        }
        return result == CudaResult.SUCCESS ? before : result;
    }

    private int watch(MemorySegment record, int length) throws RejectedException {
        int word = word(record, length);
        long event = handles.value(HandleKind.EVENT, record.get(WireTypes.U64, HANDLE));
        if (event == HandleTable.NONE) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no event of the client");
        }
        return watch.add(event, word, record.get(WireTypes.U64, VALUE));
    }

    private int hostCall(MemorySegment record, int length) throws RejectedException {
        int word = word(record, length);
        ClientStream stream = stream(record, false);
        streams.before(stream);
        if (streams.isCapturing(stream)) {
            calls.graphs().captured(stream, 2, 0, 0);
        }
        int result = words.write(stream, word, 1);
        if (result == CudaResult.SUCCESS) {
            result = fences.watchdog().pausing(stream.value(), true, () -> words.await(stream, word, 0));
        }
        streams.after(stream);
        return result;
    }

    private int createContext(int number) throws RejectedException {
        String refusal = handles.account().refusal(Countable.CONTEXT);
        if (refusal != null) {
            throw RejectedException.bound(refusal);
        }
        return streams.createContext(number) ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
    }

    private int context(MemorySegment record, int length) throws RejectedException {
        if (length < RecordHeader.BYTES + RelayLayout.CONTEXT_CHANGE.byteSize()) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "no change of a context");
        }
        int number = RecordHeader.context(record);
        return switch (record.get(WireTypes.U32, RecordHeader.BYTES)) {
            case RelayLayout.CONTEXT_CREATE -> createContext(number);
            case RelayLayout.CONTEXT_DESTROY -> resources.free(context(record));
            default -> throw new RejectedException(CudaResult.INVALID_VALUE, "no change of a context");
        };
    }

    @Override
    public void close() {
        calls.close();
        refusals.close();
    }
}
