package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.MoveTime;
import io.tessera.executor.swap.HostFrames;
import io.tessera.guardian.window.WindowSpace;
import io.tessera.os.linux.Linux;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicLong;

/** Windows of a fake device, and clients of them without sessions. The clock advances by 20 ms at each look. */
final class TestWindows implements AutoCloseable {
    static final long MIB = 1L << 20;
    /** Host memory for what leaves the device. */
    static final long HOST_BYTES = 512 * MIB;

    final FakeDriver driver = new FakeDriver();
    final AtomicLong time = new AtomicLong();
    final NanoClock clock = () -> time.addAndGet(20_000_000);
    final DeviceContext device;
    final TenantWindows windows;
    private final Arena arena = Arena.ofShared();

    /** A client: its window, its streams, and its driver calls. */
    record Client(ClientWindow window, ClientStreams streams, DriverCalls calls) {
        /** A stream of its context 1. */
        long stream() {
            streams.createContext(1);
            return streams.find(0, streams.context(1)).value();
        }
    }

    TestWindows() throws Exception {
        this(1L << 30);
    }

    /** Creates an instance for a device with this much memory. */
    TestWindows(long capacityBytes) throws Exception {
        driver.pages.capacityBytes = capacityBytes;
        driver.recording = false;
        device = DeviceContext.open(driver, 0);
        windows = new TenantWindows(device, driver.pages.capacityBytes, clock, new WindowSpace(),
                new HostFrames(Linux.sharedMemory(), Linux.open().files(), () -> Long.MAX_VALUE, HOST_BYTES, 0));
    }

    /** A client that has not joined its tenant's window yet. */
    Client client(String tenant, TenantMemory account) {
        DriverCalls calls = new DriverCalls(driver, arena);
        ClientStreams streams = new ClientStreams(calls, new ClientHandles(0), MoveTime.ofSoftware());
        return new Client(new ClientWindow(windows, tenant, account, calls, streams), streams, calls);
    }

    /** A client that has joined. */
    Client joined(String tenant) {
        Client client = client(tenant, new TenantMemory(0));
        int result = client.window.open();
        if (result != 0) {
            throw new IllegalStateException("CUDA error " + result);
        }
        return client;
    }

    /** Returns the first gap at this step in window and guards that no memory is behind; -1: there is none. */
    long hole(ClientWindow window, long step) {
        long end = window.baseAddress() + window.sizeBytes() + window.guardBytes();
        for (long at = window.baseAddress() - window.guardBytes(); at < end; at += step) {
            if (!driver.pages.isAllowed(at)) {
                return at;
            }
        }
        return -1;
    }

    @Override
    public void close() {
        arena.close();
        driver.close();
    }
}
