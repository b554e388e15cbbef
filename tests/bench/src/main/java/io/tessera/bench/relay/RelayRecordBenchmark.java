package io.tessera.bench.relay;

import io.tessera.clock.Clocks;
import io.tessera.clock.NanoClock;
import io.tessera.device.CudaEnums.StreamFlag;
import io.tessera.device.DriverEntry;
import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.MovedBytes;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.FencingService;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.image.ClientImages;
import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.ipc.Exports;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.PinnedMemory;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.pool.ClientPools;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.pool.GraphRanges;
import io.tessera.executor.print.ClientPrinting;
import io.tessera.executor.print.PrintedText;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.ring.RingConsumer;
import io.tessera.executor.session.RecordDispatcher;
import io.tessera.executor.session.RecordExecutors;
import io.tessera.executor.session.Reports;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.CompletionCounters;
import io.tessera.executor.stream.EventWatch;
import io.tessera.executor.stream.MoveTime;
import io.tessera.executor.swap.HostFrames;
import io.tessera.executor.warmup.WarmUpClient;
import io.tessera.executor.window.ClientWindow;
import io.tessera.executor.window.TenantWindows;
import io.tessera.executor.worker.CodeWorkers;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.window.WindowSpace;
import io.tessera.os.linux.Linux;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The executor's work for a record: it copies the record out of the ring, checks it, translates its handles, calls the driver, and answers.
 * The thread that drains the ring has also filled it, so writing a record is part of the figure. One thread; nanoseconds per record.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RelayRecordBenchmark {
    private static final int BATCH = 256;
    private static final long BYTES = 65_536;
    private static final long DEVICE_BYTES = 8L << 30;
    /** The fake driver's kernel with one parameter, as the client's launches have. */
    private static final String ONE_PARAMETER = "nothing";

    private final Arena arena = Arena.ofConfined();
    private final NanoClock clock = Clocks.system().monotonic();
    private RelaySegment segment;
    private WarmUpClient client;
    private RecordDispatcher records;
    private RingConsumer ring;
    private long stream;
    private long function;
    private long memory;

    /** Makes a client of a driver whose work is done at once, with a stream, a kernel and some memory. */
    @Setup
    public void prepare() throws Exception {
        FakeDriver fake = new FakeDriver();
        fake.recording = false;
        DeviceContext device = DeviceContext.open(new PromptCalls(fake), 0);
        segment = new RelaySegment(arena.allocate(RelaySegment.BYTES, 4096));
        DriverCalls driver = new DriverCalls(device.port(), arena);
        SynchronizationGate.Client synchronization = new SynchronizationGate(clock).enter("client");
        driver.waitAt(synchronization);
        ClientAccount account = ClientAccount.ofItsOwn();
        ClientHandles handles = new ClientHandles(0, account);
        MoveTime moves = MoveTime.ofSoftware();
        ClientStreams streams = new ClientStreams(driver, handles, moves);
        TenantMemory tenant = new TenantMemory(0);
        ClientWindow window = new ClientWindow(new TenantWindows(device, DEVICE_BYTES, clock, new WindowSpace(),
                new HostFrames(Linux.sharedMemory(), Linux.open().files(), () -> 0, 0, 0)), "bench", tenant,
                driver, streams);
        ClientPools pools = new ClientPools(window, streams, clock);
        ClientMemory owned = new ClientMemory();
        ClientCharge charge = new ClientCharge(tenant);
        FenceSettings settings = new FenceSettings(FenceChoice.MASK, UnfencedPolicy.OWN, false, 0, 30);
        ClientFences fences = new ClientFences(settings,
                new FencingService(device, CodeCache.none(), TrustedImages.none(), CodeWorkers.none(), clock),
                new TenantPresence().enter("bench", 0, () -> {}), window, charge, driver, segment, handles,
                streams.progress(), synchronization);
        streams.atMarks(fences.watchdog()::marked);
        ClientPrinting printing = new ClientPrinting(driver, segment,
                new PrintedText(Linux.printedText(), Linux.printedText().create("printed")), 0, fences::tellViolated);
        ClientExecution execution = new ClientExecution(device, driver, handles, streams, fences, new MovedBytes(moves, window::isPinned));
        ClientAllocations allocations = new ClientAllocations(owned, charge, window, pools, new GraphMemory(pools, new GraphRanges(owned, charge)),
                new ClientExports(new Exports(), "bench", window, owned, tenant, driver, segment));
        CompletionCounters words = new CompletionCounters(driver, segment);
        ClientCompletion completion = new ClientCompletion(segment, words, new EventWatch(driver, segment, printing, account), printing);
        PinnedMemory pinned = new PinnedMemory(Linux.sharedMemory(), Linux.open().files(), account, _ -> {});
        window.open();
        words.register();
        records = new RecordDispatcher(execution, completion,
                RecordExecutors.of(execution, allocations, completion, new ClientImages(null, null), pinned, arena, clock), Linux.futex(), clock,
                new NoReports(), () -> false);
        ring = new RingConsumer(segment, arena);
        client = new WarmUpClient(segment, Linux.futex(), clock);
        client.mark(RecordKind.CONTEXT, RelayLayout.CONTEXT_CREATE, 0, 0);
        drain();
        stream = make(DriverEntry.cuStreamCreate, WarmUpClient.pointer(0, 8), StreamFlag.NON_BLOCKING);
        long module = make(DriverEntry.cuModuleLoadDataEx, WarmUpClient.pointer(0, 8),
                WarmUpClient.pointer(8, 0), 0, 0, 0, '/' | '/' << 8);
        function = make(DriverEntry.cuModuleGetFunction, WarmUpClient.pointer(0, 8), module,
                WarmUpClient.pointer(8, 0), WarmUpClient.words(ONE_PARAMETER)[0]);
        memory = make(DriverEntry.cuMemAlloc_v2, WarmUpClient.pointer(0, 8), BYTES);
    }

    /** Gives the memory back. */
    @TearDown
    public void end() {
        arena.close();
    }

    private void drain() throws Exception {
        while (ring.poll(records, BATCH, clock.nanoTime()) == BATCH) {
            Thread.onSpinWait();
        }
        int refused = segment.takeCallError();
        if (refused != 0) {
            throw new IllegalStateException("a record without a reply is refused with " + refused);
        }
    }

    private long make(DriverEntry entry, long... words) throws Exception {
        client.begin(0, entry, words);
        drain();
        int result = client.end(0);
        if (result != 0) {
            throw new IllegalStateException(entry + " answers " + result);
        }
        return client.out(0);
    }

    /** Launches in a non-blocking stream. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void launch() throws Exception {
        for (int i = 0; i < BATCH; i++) {
            client.launch(function, stream, memory);
        }
        drain();
    }

    /** Memsets, as an example of calls without a reply. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void post() throws Exception {
        for (int i = 0; i < BATCH; i++) {
            client.post(DriverEntry.cuMemsetD8Async, memory, 0, BYTES, stream);
        }
        drain();
    }

    /** Allocates and frees: two calls with a reply each. */
    @Benchmark
    @OperationsPerInvocation(2)
    public void call() throws Exception {
        make(DriverEntry.cuMemFree_v2, make(DriverEntry.cuMemAlloc_v2, WarmUpClient.pointer(0, 8), BYTES));
    }

    /** Nothing may be reported. */
    private static final class NoReports implements Reports {
        @Override
        public void contextLost(int result, String reason) {
            throw new IllegalStateException(reason);
        }

        @Override
        public void stuck(String tenant, String why) {
            throw new IllegalStateException("stuck");
        }

        @Override
        public void look() {
            throw new IllegalStateException("look");
        }

        @Override
        public void leaves(Thread client) {
            // with the benchmark's end; it has asked for no code
        }
    }
}
