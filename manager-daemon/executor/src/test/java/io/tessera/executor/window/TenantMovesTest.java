package io.tessera.executor.window;

import static io.tessera.executor.window.TestWindows.MIB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.DriverFailedException;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.MoveTime;
import io.tessera.executor.swap.HostFrames;
import io.tessera.executor.swap.ResidencyTurns;
import io.tessera.guardian.window.WindowSpace;
import io.tessera.os.linux.Linux;
import io.tessera.software.driver.SoftwareDriverProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory of tenants that leaves the device and comes back, on the software GPU, where the kernel really looks at it. */
@Timeout(180)
class TenantMovesTest {
    private static final long DEVICE_BYTES = 128 * MIB;
    private static final long WORD = 8;
    private static final int ROUNDS = 4;
    /** The memory of a tenant of which the device has room for one at a time; the kernel takes a while for each look in software. */
    private static final long TURNS_BYTES = 16 * MIB;

    private final Arena arena = Arena.ofShared();
    private final AtomicLong available = new AtomicLong(Long.MAX_VALUE);
    private DriverPort port;
    private DeviceContext device;
    private TenantWindows windows;
    private HostFrames host;

    @BeforeEach
    void open() throws Exception {
        open(DEVICE_BYTES);
    }

    private void open(long deviceBytes) throws Exception {
        port = new SoftwareDriverProvider().open(new DriverOptions(0, deviceBytes));
        device = DeviceContext.open(port, 0);
        host = new HostFrames(Linux.sharedMemory(), Linux.open().files(), available::get, TestWindows.HOST_BYTES, 0);
        windows = new TenantWindows(device, deviceBytes, Clocks.system().monotonic(), new WindowSpace(), host);
    }

    @AfterEach
    void close() {
        port.close();
        arena.close();
    }

    /** A client of a tenant and its driver calls, for one thread. */
    private final class Client {
        final DriverCalls calls = new DriverCalls(port, arena);
        final ClientWindow window;

        Client(String tenant) {
            window = new ClientWindow(windows, tenant, new TenantMemory(0), calls,
                    new ClientStreams(calls, new ClientHandles(0), MoveTime.ofSoftware()));
            assertEquals(0, window.open());
        }

        /** Runs in a thread of its own. */
        void begin() {
            try {
                device.enter(calls);
            } catch (DriverFailedException e) {
                throw new IllegalStateException(e);
            }
        }

        void put(long address, long value) {
            calls.outMemory().setAtIndex(ValueLayout.JAVA_LONG, 1, value);
            assertEquals(0, calls.call(DriverEntry.cuMemcpyHtoD_v2, address, calls.outMemory().address() + WORD, WORD));
        }

        long get(long address) {
            assertEquals(0, calls.call(DriverEntry.cuMemcpyDtoH_v2, calls.out(0), address, WORD));
            return calls.outLong(0);
        }

        void park(String tenant) {
            assertTrue(windows.park(tenant));
            assertEquals(0, window.giveWay());
        }

        long freeBytes() {
            assertEquals(0, calls.call(DriverEntry.cuMemGetInfo_v2, calls.out(0), calls.out(1)));
            return calls.outLong(0);
        }
    }

    /** They stay, and take memory. */
    private void loadKernels() {
        Client first = new Client("first");
        first.put(first.window.allocate(MIB, 1), 1);
        first.park("first");
        assertEquals(0, first.window.close());
    }

    private TenantWindows.Bounds of(String tenant) {
        return windows.bounds().stream().filter(bounds -> bounds.tenant().equals(tenant)).findAny().orElseThrow();
    }

    private void assertMoved(long copied, long spared) {
        assertEquals(copied, of("a").copiedBytes(), "copied");
        assertEquals(spared, of("a").sparedBytes(), "spared");
    }

    @Test
    void onlyWhatHasContentsAndHasChangedIsCopied() {
        Client client = new Client("a");
        new Client("b"); // with which the kernel is loaded
        long address = client.window.allocate(16 * MIB, 2 * MIB);
        client.put(address + 4 * MIB, 4);
        client.put(address + 16 * MIB - WORD, 16);
        client.park("a");
        assertTrue(client.window.isAway());
        long all = of("a").awayBytes();
        assertTrue(all >= 16 * MIB && of("a").committedBytes() == all, "all of it is away");
        assertMoved(4 * MIB, all - 4 * MIB);
        assertEquals(0, client.window.comeBack());
        assertFalse(client.window.isAway());
        assertEquals(4, client.get(address + 4 * MIB));
        assertEquals(16, client.get(address + 16 * MIB - WORD));
        client.park("a");
        assertMoved(4 * MIB, 2 * all - 4 * MIB);
        assertEquals(0, client.window.comeBack());
        assertEquals(4, client.get(address + 4 * MIB), "the kept copy is its content");
        client.put(address + 4 * MIB, 5);
        client.put(address + 8 * MIB, 8);
        client.put(address + 16 * MIB - WORD, 0);
        client.park("a");
        assertMoved(8 * MIB, 3 * all - 8 * MIB);
        assertEquals(0, client.window.comeBack());
        assertEquals(5, client.get(address + 4 * MIB));
        assertEquals(8, client.get(address + 8 * MIB));
        assertEquals(0, client.get(address + 16 * MIB - WORD), "it was zero again");
    }

    @Test
    void whatWasFreedWhileItWasAwayIsGone() {
        loadKernels();
        Client client = new Client("a");
        long before = client.freeBytes();
        long kept = client.window.allocate(24 * MIB, 1);
        long freed = client.window.allocate(24 * MIB, 1);
        client.put(kept, 1);
        client.put(freed, 2);
        client.park("a");
        assertEquals(before, client.freeBytes(), "the device has all of it");
        long copies = host.heldBytes() - host.freeBytes();
        client.window.free(freed);
        client.window.window().wantTrim();
        client.window.rest();
        assertTrue(host.heldBytes() - host.freeBytes() < copies, "the host, too");
        assertEquals(0, client.window.comeBack());
        assertEquals(1, client.get(kept));
        client.window.free(kept);
        client.park("a");
        assertEquals(0, client.window.close());
        assertEquals(before, client.freeBytes());
        assertEquals(host.heldBytes(), host.freeBytes(), "no copy is left");
    }

    @Test
    void whoGoesWhileItsMemoryIsAwayLeavesNothingBehind() {
        loadKernels();
        Client client = new Client("a");
        long before = client.freeBytes();
        client.put(client.window.allocate(24 * MIB, 1), 1);
        client.park("a");
        assertEquals(0, client.window.close());
        assertEquals(before, client.freeBytes());
        assertEquals(host.heldBytes(), host.freeBytes());
    }

    @Test
    void withoutHostMemoryContentsStay() {
        Client client = new Client("a");
        Client other = new Client("b");
        long full = client.window.allocate(72 * MIB, 1);
        for (long at = 0; at < 72 * MIB; at += 2 * MIB) {
            client.put(full + at, at + 1);
        }
        available.set(0);
        AtomicInteger gaveWay = new AtomicInteger();
        Thread owner = Thread.ofPlatform().start(() -> {
            client.begin();
            while (!Thread.currentThread().isInterrupted()) {
                gaveWay.addAndGet(client.window.giveWay());
            }
        });
        assertEquals(0, other.window.allocate(72 * MIB, 1), "nobody makes room");
        owner.interrupt();
        assertTrue(joined(owner));
        assertEquals(0, gaveWay.get());
        for (long at = 0; at < 72 * MIB; at += 2 * MIB) {
            assertEquals(at + 1, client.get(full + at));
        }
    }

    private static boolean joined(Thread thread) {
        try {
            thread.join();
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** Copies of what is on the device are kept for the next move, until the host needs their memory. */
    @Test
    void keptCopiesGiveWayToOthers() throws Exception {
        available.set(40 * MIB); // one block of 32 MiB
        HostFrames scarce = new HostFrames(Linux.sharedMemory(), Linux.open().files(), available::get, 32 * MIB, 0);
        windows = new TenantWindows(device, DEVICE_BYTES, Clocks.system().monotonic(), new WindowSpace(), scarce);
        Client client = new Client("a");
        Client other = new Client("b");
        long first = client.window.allocate(20 * MIB, 2 * MIB);
        long second = other.window.allocate(20 * MIB, 2 * MIB);
        for (long at = 0; at < 20 * MIB; at += 2 * MIB) {
            client.put(first + at, at + 1);
            other.put(second + at, at + 2);
        }
        client.park("a");
        assertEquals(0, client.window.comeBack());
        other.park("b");
        assertTrue(other.window.isAway(), "the copies of a are given up for it");
        client.put(first, 7);
        assertEquals(0, other.window.comeBack());
        client.park("a");
        assertEquals(0, client.window.comeBack());
        assertEquals(7, client.get(first));
        for (long at = 2 * MIB; at < 20 * MIB; at += 2 * MIB) {
            assertEquals(at + 1, client.get(first + at));
            assertEquals(at + 2, other.get(second + at));
        }
    }

    /** Each does some rounds with memory of which the device has room for one tenant's at a time. */
    @Test
    void tenantsThatDoNotFitTogetherTakeTurns() throws Exception {
        port.close();
        open(2 * TURNS_BYTES);
        int tenants = 3;
        List<Thread> threads = new ArrayList<>();
        AtomicInteger right = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        for (int i = 0; i < tenants; i++) {
            int number = i;
            Client client = new Client("tenant " + number);
            threads.add(Thread.ofPlatform().start(() -> rounds(client, number, right, wrong)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(0, wrong.get());
        assertEquals(tenants * ROUNDS, right.get());
        assertTrue(windows.handed().takenBytes() > 0, "memory went from one to the other without the driver");
        assertEquals(0, windows.handed().bytes(), "none of it is left over");
    }

    /** Longer than what counts as a pause, so that another tenant can have the memory. */
    private static void pause(Client client) {
        long endNs = System.nanoTime() + 2 * ResidencyTurns.SHORTEST_IDLE_NS;
        while (System.nanoTime() - endNs < 0) {
            assertEquals(0, client.window.giveWay());
            Thread.onSpinWait();
        }
    }

    private void rounds(Client client, int number, AtomicInteger right, AtomicInteger wrong) {
        client.begin();
        SplittableRandom random = new SplittableRandom(number);
        long bytes = TURNS_BYTES;
        client.window.enter();
        long address = client.window.allocate(bytes, 2 * MIB);
        client.window.leave();
        long[] expected = new long[(int) (bytes / (2 * MIB))];
        for (int round = 0; round < ROUNDS && address != 0;) {
            int result = client.window.isAway() ? client.window.comeBack() : CudaResult.SUCCESS;
            client.window.enter();
            if (result == CudaResult.SUCCESS && !client.window.isAway()) {
                boolean same = true;
                for (int part = 0; part < expected.length; part++) {
                    same &= client.get(address + part * 2 * MIB) == expected[part];
                }
                (same ? right : wrong).incrementAndGet();
                int part = random.nextInt(expected.length);
                expected[part] = random.nextInt(3) == 0 ? 0 : random.nextLong();
                client.put(address + part * 2 * MIB, expected[part]);
                client.window.worked();
                round++;
            }
            client.window.leave();
            pause(client);
        }
        assertNotEquals(0, address);
        while (client.window.close() != 0) {
            Thread.onSpinWait();
        }
    }
}
