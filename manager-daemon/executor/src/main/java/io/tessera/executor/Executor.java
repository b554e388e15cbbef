package io.tessera.executor;

import io.tessera.clock.NanoClock;
import io.tessera.device.DriverPort;
import io.tessera.executor.control.ManagerChannel;
import io.tessera.executor.control.ManagerOrders;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DeviceSnapshot;
import io.tessera.executor.driver.DriverFailedException;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.fence.FencingService;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.executor.print.PrintedText;
import io.tessera.executor.session.Admission;
import io.tessera.executor.session.ClientSession;
import io.tessera.executor.session.Connections;
import io.tessera.executor.session.FaultAttribution;
import io.tessera.executor.session.FaultCandidate;
import io.tessera.executor.session.Reports;
import io.tessera.executor.session.SessionFactory;
import io.tessera.executor.state.BoundsBook;
import io.tessera.executor.turn.SubmissionGate;
import io.tessera.executor.turn.TurnUse;
import io.tessera.executor.warmup.JitWarmUp;
import io.tessera.executor.window.TenantWindows;
import io.tessera.executor.worker.CodeWorkers;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.state.StateStoreChoice;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.LogFile;
import io.tessera.os.Poller;
import io.tessera.os.SharedMemoryPort;
import io.tessera.os.linux.Linux;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.message.RelayToken;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor: connects its parts, and runs the thread that serves connections. {@link #run} is called by one thread; orders and reports may come from any
 * thread.
 */
public final class Executor implements ManagerOrders, Reports {
    /** Heartbeats are due twice a second (RELAY.md); clients give up after 30 s. */
    private static final long CYCLE_NS = 100_000_000L;
    private static final long STATS_NS = 1_000_000_000L;
    /** Time from the loss of the context to the end of the executor: clients read the reason in their segments, which remain mapped. */
    private static final long LEAVE_NS = WaitLimit.WORK_END.mostNs() + 2_000_000_000L;
    /** Time after which an executor without a manager and without clients ends. */
    private static final long LONELY_NS = 60_000_000_000L;
    /** Time after the manager's end within which clients may leave: programs and their manager are often ended together. */
    private static final long LEAVING_NS = 2_000_000_000L;
    /** A driver call that takes longer than this may be waiting for kernels. */
    private static final long LONG_CALL_NS = 1_000_000_000L;
    /** A call that takes longer than this is logged. */
    private static final long SAID_CALL_NS = 3_000_000_000L;
    /** Whether the executor warms up. For one that lives only for seconds, compiling ahead is not worth its cost. */
    private static final boolean WARMS_UP = !"no".equals(System.getProperty("tessera.executor.warmUp"));
    /** After this many records, a client counts as working, and the warm-up ends, because it competes for the driver's lock. */
    private static final long BUSY_RECORDS = 5_000;
    private static final Logger LOG = LoggerFactory.getLogger(Executor.class);

    private final DeviceContext device;
    private final DeviceSnapshot snapshot;
    private final PrintedText text;
    private final NanoClock clock;
    private final ManagerChannel channel;
    private final Path socket;
    private final LinuxPort os;
    private final Poller poller;
    private final Admission admission = new Admission();
    private final Connections connections;
    private final FencingService fencing;
    private final SessionFactory factory;
    private final BoundsBook book;
    private final LogFile log;
    /** The reason for which the executor ends; null while it runs. Any thread may set it; the first value counts. */
    private final AtomicReference<String> failure = new AtomicReference<>();
    /** The warm-up, until its end is noticed; null: there is none. Owned by the running thread. */
    private JitWarmUp warmUp;
    /** When this executor was last needed. Owned by the running thread. */
    private long neededNs;
    /** Whether the manager has asked the executor to end if it is not needed. */
    private volatile boolean asked;
    /** Until this time, the executor ends as soon as it is not needed, because its manager has ended. Owned by the running thread. */
    private long leavingNs;
    private volatile int lostResult;
    private volatile String stuckTenant;
    /** The call that was logged last. Owned by the running thread. */
    private SynchronizationGate.LongCall saidCall;
    /** The tenants that were logged as keeping others waiting; empty: none. */
    private String saidKeepers = "";
    private volatile boolean stopping;

    /**
     * Creates an instance over a driver that the caller closes.
     *
     * @param text    receives the driver's output
     * @param cache   keeps machine code of fenced modules
     * @param trusted knows images that may run unfenced
     * @param workers processes that read tenants' code; closed with the executor
     * @throws DriverFailedException if the device cannot be used
     * @throws LinuxException        if the socket cannot be made
     */
    public Executor(DriverPort port, int ordinal, ExecutorPlace place, ManagerChannel channel, NanoClock clock,
            PrintedText text, CodeCache cache, TrustedImages trusted, CodeWorkers workers) throws DriverFailedException, LinuxException {
        this(port, ordinal, place, channel, clock, text, cache, trusted, workers, Linux.sharedMemory());
    }

    /** As above, with segments and pinned memory from a port, which may have none left. */
    Executor(DriverPort port, int ordinal, ExecutorPlace place, ManagerChannel channel, NanoClock clock, PrintedText text,
            CodeCache cache, TrustedImages trusted, CodeWorkers workers, SharedMemoryPort memory)
            throws DriverFailedException, LinuxException {
        this.text = text;
        this.device = DeviceContext.open(port, ordinal);
        this.snapshot = DeviceSnapshot.take(device);
        this.clock = clock;
        this.channel = channel;
        this.socket = place.socket();
        this.os = Linux.open();
        this.poller = new Poller(os.poll());
        this.fencing = new FencingService(device, cache, trusted, workers, clock);
        this.factory = new SessionFactory(device, snapshot, memory, os.files(), Linux.futex(),
                clock, os.processes().pid(), place.managerUid(), text, fencing);
        this.connections = new Connections(os, poller, clock, admission, factory, fencing.presence(), this);
        this.book = new BoundsBook(StateStoreChoice.named(System.getenv()), StateStoreChoice.folderBeside(socket),
                snapshot.uuid().toString());
        this.log = new LogFile(os.files(), Linux.sharedMemory(), socket.toAbsolutePath().getParent(), LogFile.MOST_BYTES);
        os.files().remove(socket);
        connections.listen(socket, place.permissions());
    }

    /**
     * Serves clients until it is ordered to stop or cannot continue.
     *
     * @return whether it was ordered to stop
     */
    public boolean run() throws LinuxException {
        return run(() -> true);
    }

    /**
     * As above, but also ends after 60 s without a manager and without clients.
     *
     * @param managed whether there is a manager
     */
    public boolean run(BooleanSupplier managed) throws LinuxException {
        channel.ready(device, snapshot, socket);
        LOG.info("{} on {} serves {}", snapshot.name(), device.port().name(), socket);
        if (FenceSettings.UNPROTECTED) {
            LOG.warn("TESSERA_EXECUTOR_UNPROTECTED=1: no kernel is fenced, every tenant reaches every other's memory");
        }
        if (FenceSettings.MACHINE_CODE_AS_IT_IS) {
            LOG.warn("TESSERA_EXECUTOR_MACHINE_CODE_AS_IT_IS=1: kernels without PTX are not fenced, and reach every tenant's memory");
        }
        if (WARMS_UP && !device.port().software()) {
            Thread.ofPlatform().name("warm").daemon().start(() -> device.port().warm(() -> !stopping));
            warmUp = JitWarmUp.start(factory, this, Linux.sharedMemory(), Linux.futex(), clock);
        }
        long statsNs = clock.nanoTime();
        neededNs = statsNs;
        leavingNs = statsNs;
        long told = 0;
        while (!stopping && failure.get() == null) {
            poller.dispatch(CYCLE_NS);
            long nowNs = clock.nanoTime();
            connections.doWork(nowNs);
            lookAfterWarmUp();
            lookAfterCalls(nowNs);
            lookWhetherNeeded(managed.getAsBoolean(), nowNs);
            if (nowNs - statsNs >= (connections.comings() == told ? STATS_NS : CYCLE_NS)) {
                statsNs = nowNs;
                told = connections.comings();
                text.forgetOld();
                List<ClientSession> sessions = new ArrayList<>();
                connections.forEach(sessions::add);
                List<TenantWindows.Bounds> bounds = factory.windows().bounds();
                channel.stats(sessions, factory.parts(), bounds);
                book.write(bounds);
                keepLogSmall();
            }
        }
        return leave();
    }

    private void keepLogSmall() {
        try {
            log.keepSmall();
        } catch (IOException e) {
            LOG.warn("the log grows on: {}", e.getMessage());
        }
    }

    /** Ends kernels for which a driver call waits: the client's own thread may be blocked in that call. */
    private void lookAfterCalls(long nowNs) {
        sayWhoKeepsOthers(nowNs);
        Optional<SynchronizationGate.LongCall> call = factory.synchronization().longCall(nowNs, LONG_CALL_NS);
        if (call.isPresent()) {
            say(call.get(), nowNs);
            if (fencing.haltLate(nowNs, WaitLimit.WORK_END.mostNs() + factory.moves().graceNs())) {
                fail("kernels for which a call of the driver waits did not end within " + WaitLimit.WORK_END.mostNs() / 1_000_000_000L
                        + " s after they were told to");
            }
        }
    }

    private void sayWhoKeepsOthers(long nowNs) {
        String keepers = factory.synchronization().keepers(nowNs, SAID_CALL_NS);
        if (!keepers.equals(saidKeepers)) {
            saidKeepers = keepers;
            if (!keepers.isEmpty()) {
                LOG.warn("others have been waiting for {} s, because streams wait for their own programs: {}", SAID_CALL_NS / 1_000_000_000L,
                        keepers);
            }
        }
    }

    private void say(SynchronizationGate.LongCall call, long nowNs) {
        if (nowNs - call.beganNs() > SAID_CALL_NS && !call.equals(saidCall)) {
            saidCall = call;
            LOG.info("{}: {} has been in the driver for {} s; others may wait for it", call.client(), call.entry(), SAID_CALL_NS / 1_000_000_000L);
        }
    }

    /**
     * Ends the executor if it is not needed, which frees the device. Without clients it stays for a minute, in which a manager may connect and
     * adopt it.
     */
    private void lookWhetherNeeded(boolean managed, long nowNs) {
        boolean idle = connections.isEmpty() && !admission.isExpecting(nowNs);
        if (managed || !idle) {
            neededNs = nowNs;
        }
        boolean told = asked;
        asked = false;
        if (told) {
            leavingNs = nowNs + LEAVING_NS;
        }
        boolean leaving = !managed && nowNs - leavingNs < 0;
        if (idle && (told || leaving) || nowNs - neededNs > LONELY_NS) {
            LOG.info("no manager and no client needs this executor");
            stopping = true;
        }
    }

    private void lookAfterWarmUp() {
        if (warmUp == null) {
            return;
        }
        if (warmUp.isOver()) {
            endWarmUp();
            return;
        }
        connections.forEach(session -> {
            if (session.counters().records() > BUSY_RECORDS) {
                warmUp.stop();
            }
        });
    }

    private void endWarmUp() {
        if (warmUp != null) {
            warmUp.close();
            warmUp = null;
        }
    }

    private boolean leave() throws LinuxException {
        String reason = failure.get();
        if (reason != null) {
            LOG.error("the executor ends: {}", reason);
            channel.failed(reason, culprit());
            if (lostResult != 0) {
                blame(lostResult);
            }
        }
        endWarmUp();
        os.files().remove(socket);
        connections.close();
        long untilNs = clock.nanoTime() + (reason == null ? LEAVE_NS : STATS_NS);
        while (connections.isLeaving() && clock.nanoTime() - untilNs < 0) {
            poller.dispatch(CYCLE_NS / 20);
        }
        boolean inOrder = reason == null && !connections.isLeaving();
        if (inOrder) {
            factory.close();
            device.release();
        }
        fencing.close();
        poller.close();
        book.close();
        return inOrder;
    }

    private void blame(int result) {
        Map<ClientSession, FaultCandidate> suspects = new LinkedHashMap<>();
        connections.forEach(session -> suspects.put(session, session.suspect()));
        FaultAttribution blame = FaultAttribution.of(result, suspects.values().stream().filter(Objects::nonNull).toList());
        suspects.forEach((session, itself) -> session.contextLost(blame, itself));
    }

    /** Returns the tenant whose kernels have ended this executor; null: it is not known. */
    private String culprit() {
        if (stuckTenant != null) {
            return stuckTenant;
        }
        if (lostResult == 0) {
            return null;
        }
        List<FaultCandidate> suspects = new ArrayList<>();
        connections.forEach(session -> Optional.ofNullable(session.suspect()).ifPresent(suspects::add));
        suspects.stream().filter(FaultCandidate::working).forEach(suspect -> LOG.error("in progress: {}, {}, last kernels: {}",
                suspect.name(), suspect.unfenced() ? "not all fenced" : "all fenced", suspect.kernels()));
        return FaultCandidate.culprit(suspects);
    }

    @Override
    public void look() {
        wake();
    }

    @Override
    public void admit(RelayToken token, Admission.Client client) {
        fencing.expect();
        admission.announce(token, client, clock.nanoTime());
        wake();
    }

    @Override
    public void terms(String tenant, TenantTerms terms) {
        factory.parts().terms(tenant, terms);
    }

    @Override
    public void turns(PolicyName policy, TurnUse use) {
        LOG.info("turns: policy {}, {}", policy.text(), use);
        gate().share(policy, use);
    }

    @Override
    public void limit(String tenant, long limitBytes) {
        factory.limit(tenant, limitBytes);
    }

    @Override
    public void park(String tenant) {
        LOG.info("tenant \"{}\" is to leave the device{}", tenant, factory.windows().park(tenant) ? "" : ", where it has nothing");
    }

    @Override
    public void wake(String tenant) {
        factory.windows().recall(tenant);
    }

    /** Returns the gate that holds submissions back. Thread-safe. */
    SubmissionGate gate() {
        return factory.parts().gate();
    }

    /** Returns the tenants in it. Thread-safe. */
    TenantPresence presence() {
        return fencing.presence();
    }

    /** Returns the tenants' windows. */
    public TenantWindows windows() {
        return factory.windows();
    }

    @Override
    public void stop() {
        stopping = true;
        wake();
    }

    @Override
    public void stopIfIdle() {
        asked = true;
        wake();
    }

    @Override
    public void contextLost(int result, String reason) {
        lostResult = result;
        fail("the context is lost: CUDA error " + result + ", seen in " + reason);
    }

    @Override
    public void leaves(Thread client) {
        fencing.abandon(client);
    }

    @Override
    public void stuck(String tenant, String why) {
        stuckTenant = tenant;
        fail(why);
    }

    private void fail(String reason) {
        failure.compareAndSet(null, reason);
        wake();
    }

    private void wake() {
        try {
            poller.wake();
        } catch (LinuxException e) {
            LOG.debug("the connections' thread looks up by itself: {}", e.getMessage());
        }
    }
}
