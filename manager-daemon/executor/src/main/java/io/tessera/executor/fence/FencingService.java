package io.tessera.executor.fence;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.device.DeviceAttribute;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.hang.ProgressCounters;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.program.FenceForm;
import io.tessera.executor.fence.program.FencedProgram;
import io.tessera.executor.fence.program.LocalQuota;
import io.tessera.executor.fence.program.ProgramMaker;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.fence.program.Target;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.executor.fence.program.VerifiedText;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.worker.CodeWorkers;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.trust.FencedArchitectures;
import io.tessera.guardian.trust.FencedLoops;
import java.lang.foreign.Arena;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The parts of module loading that all clients of an executor share: the maker of programs, the list of clients, the trusted images, and one thread for
 * background work. Thread-safe.
 */
public final class FencingService implements AutoCloseable {
    /**
     * Whether long grids are launched in parts; by default only on GPUs. The software GPU runs few kernels at once, so a part would wait for other tenants'
     * kernels.
     */
    private static final String GRID_PARTS = System.getProperty("tessera.executor.gridParts");
    /** Whether kernels get other code for grids of few blocks; by default only on GPUs: the software GPU has no registers. */
    private static final String FEW_BLOCKS = System.getProperty("tessera.executor.fewBlocks");
    /** Whether workers are started ahead of their use: an executor that lives for seconds may never need one. */
    private static final boolean STARTS_WORKERS_AHEAD = !"no".equals(System.getProperty("tessera.executor.warmUp"));
    /** Local memory for which a new context has room, in bytes for each thread. */
    private static final int STANDARD_LOCAL_BYTES = 1024;

    /** Bound on kept images. It follows from the heap, which the images of all clients share. */
    private static final long MOST_KEPT_BYTES = Runtime.getRuntime().maxMemory() / 8;

    private final AtomicLong keptBytes = new AtomicLong();
    private final DeviceContext device;
    private final NanoClock clock;
    private final ProgramMaker maker;
    private final TrustedImages trusted;
    private final CodeWorkers workers;
    private final TenantPresence presence = new TenantPresence();
    private final LocalQuota localQuota;
    private final int processors;
    private final FencedArchitectures architectures = FencedArchitectures.of(System.getenv()); // the manager has checked it
    private final FencedLoops loops = FencedLoops.of(System.getenv());
    private final ProgressCounters doneWords;
    private final AtomicInteger deepest = new AtomicInteger(STANDARD_LOCAL_BYTES);
    private final ExecutorService later = Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().name("programs").daemon().unstarted(task));

    /** Creates the service of a device, with a cache, a list of trusted images, the workers that read code (closed by this object), and a monotonic clock. */
    public FencingService(DeviceContext device, CodeCache cache, TrustedImages trusted, CodeWorkers workers, NanoClock clock) {
        this.device = device;
        this.clock = clock;
        this.trusted = trusted;
        this.workers = workers;
        try (Arena arena = Arena.ofConfined()) {
            DriverCalls driver = new DriverCalls(device.port(), arena);
            this.doneWords = ProgressCounters.make(driver);
            this.localQuota = LocalQuota.of(device.device(), driver);
            int result = driver.call(DriverEntry.cuDeviceGetAttribute, driver.out(0), DeviceAttribute.MULTIPROCESSOR_COUNT, device.device());
            this.processors = result == CudaResult.SUCCESS ? driver.outInt(0) : 0;
            this.maker = new ProgramMaker(Target.of(device, driver), cache, workers, new VerifiedText(), localQuota, clock);
        }
    }

    /** Prepares for a new client, so that a worker process for its first code is already running. */
    public void expect() {
        if (STARTS_WORKERS_AHEAD) {
            workers.expect();
        }
    }

    /** Drops the background work for a client that has left: code that its thread has requested, or will request, is not made. Any thread. */
    public void abandon(Thread client) {
        workers.abandon(client);
        maker.wake();
    }

    /** Returns whether grids that take long are launched in parts, for which sources of modules are kept as long as those are loaded. */
    boolean comesInParts() {
        return GRID_PARTS == null ? !device.port().software() : Boolean.parseBoolean(GRID_PARTS);
    }

    /** Returns whether kernels get other code for grids of few blocks. */
    boolean hasFewBlocks() {
        return FEW_BLOCKS == null ? !device.port().software() : Boolean.parseBoolean(FEW_BLOCKS);
    }

    /** Returns the device's multiprocessors; 0: the driver does not tell. */
    int processors() {
        return processors;
    }

    /** Returns the GPU architectures for which machine code gets fences. */
    FencedArchitectures architectures() {
        return architectures;
    }

    /** Returns the setting whether loops in machine code read the stop word. */
    FencedLoops loops() {
        return loops;
    }

    /** Returns the monotonic clock. */
    NanoClock clock() {
        return clock;
    }

    /** Returns the clients in the executor. */
    public TenantPresence presence() {
        return presence;
    }

    /** Returns whether a kernel with this much local memory for each thread needs more than any before it. */
    boolean deepens(int localBytes) {
        return localBytes > deepest.getAndAccumulate(localBytes, Math::max);
    }

    /** Returns the words to which streams write their progress. */
    ProgressCounters doneWords() {
        return doneWords;
    }

    /**
     * Ends kernels for which a driver call waits, if they have exceeded their time: the threads that would end them may be blocked in that very call.
     * Makes no driver call. Only one thread at a time, but any.
     *
     * @param graceNs time that kernels have between the order to end and their end
     * @return whether kernels that were ordered to end have not ended in time
     */
    public boolean haltLate(long nowNs, long graceNs) {
        return presence.haltLate(nowNs, graceNs, doneWords::isAhead);
    }

    LocalQuota localQuota() {
        return localQuota;
    }

    int device() {
        return device.device();
    }

    ProgramMaker maker() {
        return maker;
    }

    TrustedImages trusted() {
        return trusted;
    }

    /** Makes another program of a source, in the background. */
    Future<FencedProgram> makeLater(String tenant, ProgramSource source, FenceForm form, CodeOptions options) {
        return later(() -> maker.make(tenant, source, form, options, false));
    }

    /** Submits background work. */
    <T> Future<T> later(Callable<T> maker) {
        return later.submit(maker);
    }

    /** Counts bytes that are kept for {@link #later}; false: too many are kept. */
    boolean keep(long bytes) {
        if (keptBytes.addAndGet(bytes) <= MOST_KEPT_BYTES) {
            return true;
        }
        keptBytes.addAndGet(-bytes);
        return false;
    }

    /** Takes back what {@link #keep} counted. */
    void keepNoLonger(long bytes) {
        keptBytes.addAndGet(-bytes);
    }

    @Override
    public void close() {
        later.shutdownNow();
        workers.close();
    }
}
