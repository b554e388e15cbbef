package io.tessera.executor.warmup;

import static io.tessera.executor.warmup.WarmUpClient.pointer;
import static io.tessera.executor.warmup.WarmUpClient.words;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaEnums.EventFlag;
import io.tessera.device.CudaEnums.StreamFlag;
import io.tessera.device.DriverEntry;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.session.Admission;
import io.tessera.executor.session.Reports;
import io.tessera.executor.session.SessionFactory;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.os.FutexPort;
import io.tessera.os.LinuxException;
import io.tessera.os.SharedMemoryPort;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import java.util.stream.LongStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client of the executor's own that makes the most common calls of programs, so that the JVM compiles their handlers. An
 * interpreted call costs some 20 us more than a compiled one, and programs make most synchronous calls only a few hundred times:
 * too rarely for the JVM to compile them in time. Has a thread of its own, which ends by itself; {@link #close} ends it and
 * frees its objects.
 */
public final class JitWarmUp implements AutoCloseable {
    /** Number of rounds. Times {@link #CALLS}, it exceeds the JVM's threshold for full compilation (Tier4InvocationThreshold, 5,000). */
    private static final int ROUNDS = 400;
    private static final int CALLS = 16;
    /** Maximum time of all rounds. */
    private static final long MOST_NS = 2_000_000_000L;
    private static final int RARELY = 8;
    private static final long BYTES = 65_536;
    /** PTX for an architecture older than every supported GPU; the driver compiles it. */
    private static final long[] IMAGE = words("""
            .version 6.0
            .target sm_50
            .address_size 64
            .visible .entry nothing(.param .u64 p) { ret; }
            """);
    private static final long[] KERNEL = words("nothing");
    private static final Logger LOG = LoggerFactory.getLogger(JitWarmUp.class);

    private final SessionFactory.Made made;
    private final WarmUpClient client;
    private final NanoClock clock;
    private final Thread thread;
    private volatile boolean stopping;
    private long stream;
    private long event;
    private long function;

    private JitWarmUp(SessionFactory.Made made, FutexPort futex, NanoClock clock) {
        this.made = made;
        this.client = new WarmUpClient(made.session().segment(), futex, clock);
        this.clock = clock;
        this.thread = Thread.ofPlatform().name("warm-up").daemon().unstarted(this::run);
    }

    /**
     * Begins.
     *
     * @throws LinuxException if there is no memory for it
     */
    public static JitWarmUp start(SessionFactory factory, Reports reports, SharedMemoryPort memory, FutexPort futex,
            NanoClock clock) throws LinuxException {
        SessionFactory.Made made = factory.makeOwn(
                new Admission.Client(0, 0, 0, "warm-up", 0, FenceSettings.safest()),
                new TenantPresence().enter("warm-up", 0, () -> {}), reports);
        memory.close(made.descriptor());
        JitWarmUp warmUp = new JitWarmUp(made, futex, clock);
        made.session().start();
        warmUp.thread.start();
        return warmUp;
    }

    private void run() {
        long beginNs = clock.nanoTime();
        long roundsNs;
        int rounds = 0;
        try {
            prepare();
            roundsNs = clock.nanoTime(); // without the first load, which also loads the rewriter
            while (rounds < ROUNDS && !stopping && clock.nanoTime() - roundsNs < MOST_NS) {
                round(rounds++);
            }
        } catch (WarmUpEndedException e) {
            LOG.info("the warm-up ends early: {}", e.getMessage());
        }
        made.session().end();
        LOG.info("warm-up: {} rounds in {} ms", rounds, (clock.nanoTime() - beginNs) / 1_000_000);
    }

    private long make(DriverEntry entry, long... words) throws WarmUpEndedException {
        int result = client.call(entry, words);
        if (result != 0) {
            throw new WarmUpEndedException(entry + " answers " + result);
        }
        return client.out(0);
    }

    private static long[] with(long[] arguments, long... data) {
        return LongStream.concat(LongStream.of(arguments), LongStream.of(data)).toArray();
    }

    private void prepare() throws WarmUpEndedException {
        client.ask(RecordKind.CONTEXT, 0, RelayLayout.CONTEXT_CREATE);
        stream = make(DriverEntry.cuStreamCreateWithPriority, pointer(0, 8), StreamFlag.NON_BLOCKING, 0);
        event = make(DriverEntry.cuEventCreate, pointer(0, 8), EventFlag.DISABLE_TIMING);
        long image = pointer(IMAGE.length * Long.BYTES, 0);
        long name = pointer(KERNEL.length * Long.BYTES, 0);
        long library = make(DriverEntry.cuLibraryLoadData, with(new long[] {pointer(0, 8), image, 0, 0, 0, 0, 0, 0}, IMAGE));
        long kernel = make(DriverEntry.cuLibraryGetKernel, with(new long[] {pointer(0, 8), library, name}, KERNEL));
        client.ask(RecordKind.QUERY, QueryKind.FUNCTION.code(), kernel);
        client.call(DriverEntry.cuLibraryUnload, library);
        long module = make(DriverEntry.cuModuleLoadDataEx, with(new long[] {pointer(0, 8), image, 0, 0, 0}, IMAGE));
        function = make(DriverEntry.cuModuleGetFunction, with(new long[] {pointer(0, 8), module, name}, KERNEL));
        client.ask(RecordKind.QUERY, QueryKind.FUNCTION.code(), function);
        // Not freed, so that the driver keeps the block of memory from which the rounds allocate.
        make(DriverEntry.cuMemAlloc_v2, pointer(0, 8), BYTES);
    }

    private void round(int number) throws WarmUpEndedException {
        long value = 2L * number + 2;
        for (int i = 0; i < CALLS; i++) {
            client.begin(i, DriverEntry.cuMemAlloc_v2, pointer(0, 8), BYTES);
        }
        client.end(CALLS - 1);
        for (int i = 0; i < CALLS; i++) {
            work(client.out(i), value);
        }
        for (int i = 0; i < CALLS; i++) {
            client.begin(i, DriverEntry.cuMemFree_v2, client.out(i));
        }
        client.end(CALLS - 1);
        // One mark behind a launch, which the device writes, and one in an idle stream, which the executor writes.
        for (int i = 0; i < CALLS; i++) {
            long next = 2L * (number * CALLS + i);
            client.launch(function, stream, 0);
            client.awaitMark(stream, 4, next + 1);
            client.awaitMark(stream, 4, next + 2);
        }
        if (number % RARELY == 0) {
            rare(value);
        }
    }

    private void work(long memory, long value) throws WarmUpEndedException {
        client.post(DriverEntry.cuMemsetD8Async, memory, 0, BYTES, stream);
        client.post(DriverEntry.cuMemcpyHtoDAsync_v2, memory, pointer(8, 0), 8, stream, value);
        client.post(DriverEntry.cuMemcpyAsync, memory + 8, memory, 8, stream);
        client.launch(function, stream, memory);
        client.launch(function, 0, memory);
        client.post(DriverEntry.cuEventRecordWithFlags, event, stream, 0);
        client.post(DriverEntry.cuStreamWaitEvent, 0, event, 0);
        client.mark(RecordKind.WATCH_EVENT, event, 1, value);
        client.mark(RecordKind.MARK, stream, 2, value);
    }

    private void rare(long value) throws WarmUpEndedException {
        client.mark(RecordKind.MARK, RelayLayout.ALL_STREAMS, 3, value);
        client.awaitWord(3, value);
        client.awaitWord(2, value);
        client.awaitWord(1, value);
        client.ask(RecordKind.QUERY, QueryKind.MEMORY.code(), 0);
        long other = make(DriverEntry.cuStreamCreate, pointer(0, 8), StreamFlag.NON_BLOCKING);
        long asynchronous = make(DriverEntry.cuMemAllocAsync, pointer(0, 8), BYTES, other);
        client.call(DriverEntry.cuMemFreeAsync, asynchronous, other);
        long recorded = make(DriverEntry.cuEventCreate, pointer(0, 8), EventFlag.DISABLE_TIMING);
        client.post(DriverEntry.cuEventRecord, recorded, other);
        client.post(DriverEntry.cuEventDestroy_v2, recorded);
        client.post(DriverEntry.cuStreamDestroy_v2, other);
    }

    /** Returns whether its thread and its session are over. */
    public boolean isOver() {
        return !thread.isAlive() && made.session().isOver();
    }

    /** Makes it end after the present round. */
    public void stop() {
        stopping = true;
    }

    /** Ends it. Waits for the session's end for a bounded time. */
    @Override
    public void close() {
        stopping = true;
        made.session().end();
        BoundedWait.begin(clock, WaitLimit.WARM_UP_END).until(this::isOver);
        if (isOver() && made.arena().scope().isAlive()) {
            made.arena().close();
        }
    }
}
