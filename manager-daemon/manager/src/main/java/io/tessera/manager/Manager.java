package io.tessera.manager;

import io.tessera.clock.Clocks;
import io.tessera.clock.NanoClock;
import io.tessera.guardian.cache.CacheLocation;
import io.tessera.guardian.trust.TrustLocation;
import io.tessera.manager.admission.AdmissionQueue;
import io.tessera.manager.admission.AwaitedClients;
import io.tessera.manager.admission.ClientPlaces;
import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.conductor.ConductorProxy;
import io.tessera.manager.conductor.DeviceRegistry;
import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.conductor.Leases;
import io.tessera.manager.conductor.SchedulerFactory;
import io.tessera.manager.conductor.TenantShares;
import io.tessera.manager.control.ControlServer;
import io.tessera.manager.executors.ExecutorKind;
import io.tessera.manager.executors.ExecutorLauncher;
import io.tessera.manager.executors.Executors;
import io.tessera.manager.executors.ProcessLauncher;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.residency.Checkpoints;
import io.tessera.manager.residency.MemoryExchange;
import io.tessera.manager.residency.ProcessCheckpoints;
import io.tessera.manager.residency.Residency;
import io.tessera.manager.schedule.DeviceScheduler;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.session.ClientJournal;
import io.tessera.manager.session.DistinctErrors;
import io.tessera.manager.session.ManagerDirectory;
import io.tessera.manager.session.SegmentStore;
import io.tessera.manager.session.Session;
import io.tessera.manager.session.Sessions;
import io.tessera.manager.settings.OrderJournal;
import io.tessera.manager.settings.SettingsWatch;
import io.tessera.manager.sharing.SharingPreference;
import io.tessera.manager.sharing.SharingRule;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.LogFile;
import io.tessera.os.Poller;
import io.tessera.os.linux.Linux;
import io.tessera.os.memory.HostMemorySource;
import io.tessera.os.memory.OwnHostMemory;
import io.tessera.protocol.RuntimeDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A manager: wires its parts and closes them. {@link #start} runs it on a thread of its own; {@link #assemble} leaves the thread to the
 * caller, which steps it.
 *
 * <p>The thread that runs {@link #doWork} owns everything inside; {@link #mode}, {@link #stop}, {@link #awaitEnd} and
 * {@link #close} may be called by any thread.
 */
public final class Manager implements AutoCloseable {
    /** Creates the port that takes whole processes off GPUs and answers over a proxy. */
    @FunctionalInterface
    public interface CheckpointFactory {
        /** Creates the port; its answers come over the proxy to the owner thread. */
        Checkpoints over(ConductorProxy proxy);
    }

    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(10);
    /** A check of the log's size is a system call, and there may be thousands of cycles in a second. */
    private static final long LOG_LOOK_NS = 1_000_000_000L;
    private static final Logger LOG = LoggerFactory.getLogger(Manager.class);

    private final ManagerDirectory directory;
    private final Poller poller;
    private final NanoClock clock;
    private final DistinctErrors errors;
    private final Sessions sessions;
    private final DeviceRegistry devices;
    private final Executors executors;
    private final Residency residency;
    private final MemoryExchange handed;
    private final ControlServer control;
    private final SettingsWatch settings;
    private final OrderJournal journal;
    private final PlacementSign sign;
    private final ClientJournal clients;
    private final ConductorProxy proxy;
    private final Conductor conductor;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean stopping;
    private volatile Throwable failure;
    private Thread thread;

    private Manager(ManagerContext context, LinuxPort os, Clocks clocks, SchedulerFactory schedulers,
            ExecutorLauncher launcher, HostMemorySource host, CheckpointFactory checkpoints,
            ManagerDirectory directory, Poller poller) {
        this.directory = directory;
        this.poller = poller;
        this.clock = clocks.monotonic();
        this.errors = new DistinctErrors(clocks.realtime());
        this.proxy = new ConductorProxy(poller);
        Leases leases = new Leases();
        this.devices = new DeviceRegistry(errors, schedulers, leases, new TenantShares(os.processes().uid()), context.mode(), context.policy());
        this.executors = new Executors(context.executors(), context.fences(), launcher, context.directory().path(),
                os.processes(), proxy, tenant -> devices.shares().of(tenant), uuid -> devices.sharing(uuid));
        this.residency = new Residency(devices, leases, context.residency(), host, executors.uses()::memoryBytes,
                checkpoints.over(proxy));
        this.handed = new MemoryExchange(devices, os.sockets(), errors);
        SessionRouter router = new SessionRouter(devices, executors,
                new SharingRule(context.executors() != ExecutorKind.NONE, () -> preference(context)), this::registered);
        Supplier<DevicePlacement> placement = () -> placement(context);
        PresentDevices present = new PresentDevices(devices, executors, residency, context.residency().capacityBytes(), placement);
        this.sign = new PlacementSign(os.files(), context.directory().path(), placement,
                () -> HostDevices.OWN.several(context.executors(), context.software()));
        PresentRoom room = new PresentRoom(this::registered, residency, present, os.processes());
        AwaitedClients awaited = new AwaitedClients(ClientJournal.read(os.files(), context.directory().path()), room,
                clocks.monotonic().nanoTime());
        AdmissionQueue admission = new AdmissionQueue(new ClientPlaces(context.maxClients(), os.processes().uid(), devices.shares()), room,
                awaited, placement);
        ReturningClients returning = new ReturningClients(router, os.processes(), directory.formerClients());
        this.sessions = new Sessions(os, poller, clocks, new SegmentStore(os, context.directory()), errors, admission, returning);
        this.clients = new ClientJournal(os.files(), context.directory().path(), this::registered, awaited);
        this.journal = new OrderJournal(os.files(), context.directory().path(), devices);
        this.settings = new SettingsWatch(context.settings(), os.processes().uid(), devices, (tenant, bytes) -> {
            journal.limitInFile(tenant);
            executors.limit(tenant, bytes);
        });
        Shutdown ending = new Shutdown(sessions, executors, this::stopping);
        ControlledManager target = new ControlledManager(context, os.processes(), clocks, sessions, devices, executors, residency, admission,
                settings, journal,
                (programs, nowNs) -> {
                    if (programs) {
                        ending.begin(nowNs);
                    } else {
                        stopping();
                    }
                });
        this.control = new ControlServer(os, poller, clocks.monotonic(), errors, target);
        this.conductor = new Conductor(poller, clocks.monotonic(), sessions, devices, leases, proxy,
                List.of(returning, cycle(admission), cycle(clients, sessions), settings, control, executors, residency, handed, ending, journal,
                        present, sign,
                        new DirectoryWatch(directory, this::stopping)),
                errors);
    }

    private static Conductor.Timed cycle(ClientJournal clients, Sessions sessions) {
        return new Conductor.Timed() {
            @Override
            public int doWork(long nowNs) {
                return clients.doWork(sessions.changes(), nowNs);
            }

            @Override
            public long nextDeadlineNs() {
                return clients.nextDeadlineNs();
            }
        };
    }

    private static Conductor.Timed cycle(AdmissionQueue admission) {
        return new Conductor.Timed() {
            @Override
            public int doWork(long nowNs) {
                return admission.doWork(nowNs);
            }

            @Override
            public long nextDeadlineNs() {
                return admission.nextDeadlineNs();
            }
        };
    }

    /** The file has precedence over the option, because it can be changed while the manager runs. */
    private SharingPreference preference(ManagerContext context) {
        return settings.preference().orElse(context.preference());
    }

    private DevicePlacement placement(ManagerContext context) {
        return settings.placement().orElse(context.placement());
    }

    private Collection<Session> registered() {
        return sessions.registered();
    }

    /**
     * Claims the directories, listens, and runs on a thread of its own until {@link #close} or a stop request.
     *
     * @throws IOException if the directories or sockets cannot be used, or the account of executors does not exist; nothing is left behind
     */
    public static Manager start(ManagerContext context) throws IOException {
        SchedulerFactory schedulers = (totalBytes, port, nowNs) -> new DeviceScheduler(
                context.schedule().withTotalBytes(totalBytes), port, nowNs);
        LinuxPort os = Linux.open();
        Path home = Path.of(System.getProperty("user.home"));
        Path cache = CacheLocation.of(System.getenv(), os.processes().uid(), home).getParent();
        Path trusted = TrustLocation.of(System.getenv(), os.processes().uid(), home).toAbsolutePath().getParent();
        Manager manager = assemble(context, os, Clocks.system(), schedulers,
                ProcessLauncher.of(os, context.executors(), context.software(),
                        new ProcessLauncher.Folders(context.directory().path(), cache.toAbsolutePath(), trusted), context.executorUser()),
                new OwnHostMemory(LOG::warn),
                proxy -> new ProcessCheckpoints(Path.of(System.getProperty("tessera.probe", ""))
                        .resolveSibling("tessera-checkpoint"), context.directory().path().resolve("suspended"), proxy));
        manager.settings.readBy(task -> Thread.ofPlatform().name("tessera-settings").daemon().start(task));
        manager.thread = new Thread(manager::run, "tessera-conductor");
        manager.thread.start();
        return manager;
    }

    /**
     * Claims the directories and listens; the caller's thread then owns the manager and steps it by {@link #doWork}.
     *
     * @param os         ports, real or in memory
     * @param clocks     clocks, real or turned by hand
     * @param schedulers makes the schedulers
     * @param launcher   starts executors
     * @param host       the host's memory
     * @param checkpoints creates the port that takes whole processes off GPUs
     * @throws IOException if the directories or sockets cannot be used; nothing is left behind
     */
    public static Manager assemble(ManagerContext context, LinuxPort os, Clocks clocks, SchedulerFactory schedulers,
            ExecutorLauncher launcher, HostMemorySource host, CheckpointFactory checkpoints) throws IOException {
        ManagerDirectory directory = ManagerDirectory.claim(os, context.directory(), clocks.monotonic());
        Poller poller = null;
        Manager manager = null;
        boolean done = false;
        try {
            poller = new Poller(os.poll());
            manager = new Manager(context, os, clocks, schedulers, launcher, host, checkpoints, directory, poller);
            long nowNs = clocks.monotonic().nanoTime();
            manager.settings.doWork(nowNs); // first, because the latest orders have precedence
            manager.sign.doWork(nowNs);
            manager.journal.restore(manager::limitOrdered, nowNs);
            manager.sessions.listen(context.directory().registrationSocket());
            manager.control.listen(context.directory().controlSocket());
            manager.executors.adopt(clocks.monotonic().nanoTime());
            done = true;
            return manager;
        } finally {
            if (!done) {
                if (manager != null) {
                    manager.sessions.close();
                    manager.control.close();
                }
                if (poller != null) {
                    poller.close();
                }
                directory.close();
            }
        }
    }

    private void limitOrdered(String tenant, long bytes) {
        settings.limitOrdered(tenant);
        executors.limit(tenant, bytes);
    }

    private void run() {
        try {
            LogFile log = new LogFile(Linux.open().files(), Linux.sharedMemory(), directory.paths().path(), LogFile.MOST_BYTES);
            long lookedNs = clock.nanoTime();
            while (!stopping) {
                conductor.doWork(conductor.idleNs());
                long nowNs = clock.nanoTime();
                if (nowNs - lookedNs >= LOG_LOOK_NS) {
                    lookedNs = nowNs;
                    log.keepSmall();
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            // With a broken conductor clients would wait at closed gates; without one they run on their own.
            failure = e;
            LOG.error("the manager ends because its conductor failed; clients go on without it", e);
        } finally {
            release();
        }
    }

    /** Runs one cycle without a wait, for a caller that steps the manager. Returns the amount of work done. */
    public int doWork() throws LinuxException {
        return conductor.doWork(0);
    }

    /** Returns the directories in which clients and this manager meet. */
    public RuntimeDirectory paths() {
        return directory.paths();
    }

    /** Returns the manager's own errors so far; exact only while no thread runs {@link #doWork}. */
    public DistinctErrors errors() {
        return errors;
    }

    /** Sets the mode of all devices, in the next cycle. Thread-safe. */
    public void mode(SchedulerMode mode) {
        offer(nowNs -> {
            devices.order(Optional.empty(), DeviceSharing.of(mode), nowNs);
            journal.write();
            LOG.info("mode {} for all devices, by signal or call", mode);
        });
    }

    private void offer(LongConsumer command) {
        try {
            if (!proxy.offer(command)) {
                LOG.info("a command came too late, the manager has ended");
            }
        } catch (LinuxException e) {
            LOG.error("the conductor cannot be woken, a command waits for its next cycle: {}", e.getMessage());
        }
    }

    private void stopping() {
        stopping = true;
    }

    /** Asks the manager to end in order, soon. Thread-safe. */
    public void stop() {
        offer(nowNs -> stopping());
    }

    /** Returns whether the manager was told to end. */
    public boolean isStopping() {
        return stopping;
    }

    /**
     * Waits until the manager has ended and released everything.
     *
     * @return the error that ended it, or null if it was told to end
     */
    public Throwable awaitEnd() throws InterruptedException {
        ended.await();
        return failure;
    }

    /** Closes connections, so that clients run on their own, and removes sockets, segments and the pid file. */
    private void release() {
        proxy.close();
        residency.close();
        handed.close();
        journal.forget();
        sign.remove();
        clients.write(sessions.changes()); // for a manager that starts right after this one
        try {
            sessions.close();
            executors.close();
            errors.summarise();
            control.close();
            poller.close();
        } catch (LinuxException e) {
            LOG.warn("while the manager ended: {}", e.getMessage());
        }
        try {
            directory.close();
        } catch (LinuxException e) {
            LOG.warn("while the manager ended: {}", e.getMessage());
        }
        ended.countDown();
    }

    /** Ends the manager and waits until it has ended, at most 10 s. */
    @Override
    public void close() {
        if (ended.getCount() == 0) {
            return;
        }
        if (thread == null) {
            stopping = true;
            release();
            return;
        }
        stop();
        try {
            if (!ended.await(CLOSE_PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("the conductor did not end within " + CLOSE_PATIENCE);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
