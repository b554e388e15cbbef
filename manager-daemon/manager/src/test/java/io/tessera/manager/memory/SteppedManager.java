package io.tessera.manager.memory;

import io.tessera.manager.Manager;
import io.tessera.manager.ManagerContext;
import io.tessera.manager.conductor.SchedulerFactory;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxException;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.RuntimeDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** A whole manager on ports in memory, run step by step. */
public final class SteppedManager implements AutoCloseable {
    /** A device that tests announce. */
    public static final DeviceUuid GPU = new DeviceUuid(0x1111_2222_3333_4444L, 0x5555_6666_7777_8888L);
    /** Its directories. */
    public static final RuntimeDirectory DIRECTORY = new RuntimeDirectory(Path.of("/run/tessera"), Path.of("/dev/shm/tessera-0"));

    /** Its clock. */
    public final ManualClock clock = new ManualClock();
    /** Its system. */
    public final MemoryLinux linux;
    /** Its schedulers, one per device, in the order of the devices. */
    public final List<RecordingScheduler> schedulers = new ArrayList<>();
    /** The manager. */
    public final Manager manager;

    /** Memory of its host. */
    public final ManualHostMemory host = new ManualHostMemory();

    /** Processes that it suspends. */
    public final ManualCheckpoints checkpoints = new ManualCheckpoints();

    /** The executors that it started. */
    public final RecordingLauncher launcher = new RecordingLauncher();

    /** Creates a manager of root with defaults. */
    public SteppedManager() throws IOException {
        this(0, UnaryOperator.identity());
    }

    /** Creates a manager of a user with settings. */
    public SteppedManager(int uid, UnaryOperator<ManagerContext> settings) throws IOException {
        this(uid, settings, null);
    }

    /** Creates a manager with schedulers of the test's own; null: schedulers that decide nothing. */
    public SteppedManager(int uid, UnaryOperator<ManagerContext> settings, SchedulerFactory own) throws IOException {
        this(uid, settings, own, Map.of());
    }

    /** Creates a manager that finds executors, by device. */
    public SteppedManager(int uid, UnaryOperator<ManagerContext> settings, SchedulerFactory own,
            Map<Integer, RecordingLauncher.Started> living) throws IOException {
        this(new MemoryLinux(uid), settings, own, living);
    }

    /** Creates a manager of root on a system that the test has prepared. */
    public SteppedManager(MemoryLinux prepared, UnaryOperator<ManagerContext> settings) throws IOException {
        this(prepared, settings, null, Map.of());
    }

    private SteppedManager(MemoryLinux prepared, UnaryOperator<ManagerContext> settings, SchedulerFactory own,
            Map<Integer, RecordingLauncher.Started> living) throws IOException {
        launcher.living.putAll(living);
        linux = prepared;
        SchedulerFactory factory = own != null ? own : (totalBytes, port, nowNs) -> {
            schedulers.add(new RecordingScheduler(port));
            return schedulers.getLast();
        };
        manager = Manager.assemble(settings.apply(ManagerContext.in(DIRECTORY)), linux.ports(), clock.clocks(),
                factory, launcher, host, proxy -> checkpoints);
    }

    /** Connects a process to the registration socket. */
    public InMemoryClient connect(int pid, int uid) {
        return linux.connect(DIRECTORY.registrationSocket(), pid, uid);
    }

    /** Connects a process to the control socket. */
    public InMemoryClient control(int uid) {
        return linux.connect(DIRECTORY.controlSocket(), 77, uid);
    }

    /** Returns a registered client of tenant {@code team} with a context on {@link #GPU}; its messages so far are already read. */
    public InMemoryClient client(int pid) throws LinuxException {
        return client(pid, "team", 0);
    }

    /** Returns a registered client with a context on {@link #GPU}; its messages so far are already read. */
    public InMemoryClient client(int pid, String tenant, long limitBytes) throws LinuxException {
        InMemoryClient peer = connect(pid, 500).hello(tenant, limitBytes).device(0, GPU);
        step();
        peer.heard();
        return peer;
    }

    /** Runs cycles until there is no more work. */
    public void step() throws LinuxException {
        for (int i = 0; i < 100; i++) {
            if (manager.doWork() == 0) {
                return;
            }
        }
        throw new AssertionError("the manager still has work after 100 cycles");
    }

    /** Lets time pass, then runs cycles. */
    public void stepAfterMs(long ms) throws LinuxException {
        clock.advanceMs(ms);
        step();
    }

    /** Returns the files of segments that exist. */
    public List<Path> segments() {
        return linux.files.paths().stream().filter(p -> DIRECTORY.shmDirectory().equals(p.getParent())).toList();
    }

    /** Returns the text of a file in the runtime directory. */
    public String file(String name) throws LinuxException {
        int descriptor = linux.files.open(DIRECTORY.path().resolve(name), FilePort.Open.READ, 0);
        try {
            return new String(linux.files.read(descriptor, 1 << 16), StandardCharsets.UTF_8);
        } finally {
            linux.files.close(descriptor);
        }
    }

    @Override
    public void close() {
        manager.close();
    }
}
