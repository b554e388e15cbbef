package io.tessera.executor;

import io.tessera.clock.Clocks;
import io.tessera.clock.NanoClock;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.control.ManagerChannel;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.executor.print.PrintedText;
import io.tessera.executor.session.Admission;
import io.tessera.executor.turn.SubmissionGate;
import io.tessera.executor.window.TenantWindows;
import io.tessera.executor.worker.TestWorkers;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.os.SharedMemoryPort;
import io.tessera.os.linux.Linux;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.message.RelayToken;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.testing.driver.FakeDriver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** An executor in the test's own process, over a fake driver. */
public final class RunningExecutor implements AutoCloseable {
    public final FakeDriver driver = new FakeDriver();
    private final Path socket;
    private final int printed;
    private final ByteArrayOutputStream told = new ByteArrayOutputStream();
    private final Executor executor;
    private final Thread thread;
    private final AtomicLong ids = new AtomicLong();
    private volatile boolean inOrder;

    public RunningExecutor(Path folder) throws Exception {
        this(folder, Linux.sharedMemory());
    }

    /** With a clock that runs slowly: no bound on time of its own is reached, however busy the machine is. */
    public static RunningExecutor patient(Path folder) throws Exception {
        long startNs = System.nanoTime();
        return new RunningExecutor(folder, Linux.sharedMemory(), () -> startNs + (System.nanoTime() - startNs) / 20, () -> true);
    }

    /** Creates an instance with memory from a port. */
    public RunningExecutor(Path folder, SharedMemoryPort memory) throws Exception {
        this(folder, memory, Clocks.system().monotonic(), () -> true);
    }

    /** Creates an instance with a clock, and with a manager or not. */
    public RunningExecutor(Path folder, SharedMemoryPort memory, NanoClock clock, BooleanSupplier managed) throws Exception {
        this(folder, memory, clock, managed, TrustedImages.none(), _ -> {});
    }

    /** On a GPU whose machine code is fenced, with the hashes of cubins that are a vendor's. */
    public static RunningExecutor ofMachineCode(Path folder, TrustedImages trusted) throws Exception {
        return new RunningExecutor(folder, Linux.sharedMemory(), Clocks.system().monotonic(), () -> true, trusted, FakeDriver::isGpu);
    }

    /** The same on one with this much memory. */
    public static RunningExecutor ofMachineCode(Path folder, TrustedImages trusted, long capacityBytes) throws Exception {
        return new RunningExecutor(folder, Linux.sharedMemory(), Clocks.system().monotonic(), () -> true, trusted, driver -> {
            driver.isGpu();
            driver.pages.capacityBytes = capacityBytes;
        });
    }

    private RunningExecutor(Path folder, SharedMemoryPort memory, NanoClock clock, BooleanSupplier managed, TrustedImages trusted,
            Consumer<FakeDriver> device) throws Exception {
        device.accept(driver);
        socket = folder.resolve("executor.sock");
        printed = Linux.printedText().create("printed");
        executor = new Executor(driver, 0, ExecutorPlace.own(socket),
                new ManagerChannel(line -> told.writeBytes((line + "\n").getBytes(StandardCharsets.UTF_8))), clock,
                new PrintedText(Linux.printedText(), printed), CodeCache.none(), trusted, TestWorkers.shared(), memory);
        thread = Thread.ofPlatform().name("executor").start(() -> {
            try {
                inOrder = executor.run(managed);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** A client of a tenant with a limit, with context 1, whose images run as they are. */
    public RelayTestClient client(String tenant, long limitBytes) throws Exception {
        return client(tenant, limitBytes, new FenceSettings(FenceChoice.MASK, UnfencedPolicy.OWN, false, 0, 0));
    }

    /** A client of a tenant, with context 1. */
    public RelayTestClient client(String tenant, long limitBytes, FenceSettings settings) throws Exception {
        RelayToken token = RelayToken.create();
        executor.admit(token, new Admission.Client(ids.incrementAndGet(), Linux.open().processes().pid(),
                Linux.open().processes().uid(), tenant, limitBytes, settings));
        RelayTestClient client = new RelayTestClient(socket, token);
        if (client.context(RelayTestClient.CONTEXT, RelayLayout.CONTEXT_CREATE) != 0) {
            throw new IllegalStateException("no context");
        }
        return client;
    }

    /** Its clients. */
    public TenantPresence presence() {
        return executor.presence();
    }

    /** The manager changes a tenant's limit. */
    public void limit(String tenant, long limitBytes) {
        executor.limit(tenant, limitBytes);
    }

    /** The manager says what is set for a tenant. */
    public void terms(String tenant, TenantTerms terms) {
        executor.terms(tenant, terms);
    }

    /** Returns the gate that holds submissions back. */
    public SubmissionGate gate() {
        return executor.gate();
    }

    /** The manager ends. */
    public void managerEnds() {
        executor.stopIfIdle();
    }

    /** Returns whether it runs. */
    public boolean isRunning() {
        return thread.isAlive();
    }

    /** Returns the tenants' windows. */
    public TenantWindows windows() {
        return executor.windows();
    }

    /** Returns where it listens. */
    public Path socket() {
        return socket;
    }

    /** Returns what it told the manager. */
    public String told() {
        return told.toString(StandardCharsets.UTF_8);
    }

    /** Prints as a driver does. */
    public void print(String text) {
        try {
            Linux.sharedMemory().write(printed, text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until it has ended; whether it was ordered to. */
    public boolean awaitEnd() {
        try {
            thread.join(TimeUnit.SECONDS.toMillis(60));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            throw new AssertionError("the executor does not end");
        }
        return inOrder;
    }

    @Override
    public void close() {
        executor.stop();
        awaitEnd();
        try {
            Linux.sharedMemory().close(printed);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
