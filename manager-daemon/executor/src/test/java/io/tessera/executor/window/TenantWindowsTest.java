package io.tessera.executor.window;

import static io.tessera.executor.window.TestWindows.MIB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.testing.driver.FakePages;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a tenant's share of the device, its effects on others, and the state after it has left. */
@Timeout(180)
class TenantWindowsTest {
    private static final String NOTHING = "0 memories, 0 handles, 0 mappings, 0 reservations";

    private TestWindows test;

    @BeforeEach
    void open() throws Exception {
        test = new TestWindows();
    }

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void aWindowIsAlignedToItsSizeAndGoesWithItsLastClient() {
        TestWindows.Client first = test.joined("a");
        TestWindows.Client second = test.joined("a");
        TestWindows.Client other = test.joined("b");
        ClientWindow window = first.window();
        assertEquals(0, window.baseAddress() % window.sizeBytes());
        assertEquals(window.baseAddress(), second.window().baseAddress(), "one window a tenant");
        assertFalse(window.contains(other.window().baseAddress(), 1));
        long address = window.allocate(100, 1);
        assertTrue(window.contains(address, 100));
        assertEquals(0, address % 512);
        window.free(address);
        assertEquals(0, first.window().close());
        assertEquals(2, test.windows.bounds().size());
        assertEquals(0, second.window().close());
        assertEquals(0, other.window().close());
        assertEquals(List.of(), test.windows.bounds());
        assertEquals(NOTHING, test.driver.pages.left());
    }

    /**
     * The driver may hold up a thread that changes windows for as long as a kernel runs, and the thread that asks here is the one that ends
     * the kernel.
     */
    @Test
    void whoAsksWaitsForNobodyWhoChangesWindows() throws Exception {
        test.joined("a");
        synchronized (test.windows) {
            assertEquals(1, CompletableFuture.supplyAsync(() -> test.windows.bounds().size()).get(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void anotherPlaceIsTakenWhereTheDriverGivesAnother() {
        test.driver.pages.misplacements = 3;
        TestWindows.Client client = test.joined("a");
        assertEquals(0, client.window().baseAddress() % client.window().sizeBytes());
        assertEquals(0, client.window().close());
        assertEquals(NOTHING, test.driver.pages.left());
    }

    @Test
    void theSinkIsBehindEverythingThatNothingElseIsBehind() {
        TestWindows.Client client = test.joined("a");
        ClientWindow window = client.window();
        long before = window.allocate(40 * MIB, 1);
        assertEquals(0, window.backEverywhere());
        assertTrue(window.isBacked());
        assertEquals(-1, test.hole(window, FakePages.GRANULE));
        long after = window.allocate(50 * MIB, 1);
        test.driver.pages.putLong(before, 1);
        test.driver.pages.putLong(after, 2);
        assertEquals(1, test.driver.pages.getLong(before));
        long stray = window.baseAddress() + window.sizeBytes() + window.guardBytes() - 8;
        test.driver.pages.putLong(stray, 3);
        assertEquals(3, test.driver.pages.getLong(window.baseAddress() - window.guardBytes()
                + stray % (32 * MIB)), "the sink is one memory");
        assertEquals(1, test.driver.pages.getLong(before));
        assertEquals(2, test.driver.pages.getLong(after));
        window.free(after);
        window.rest();
        assertTrue(test.windows.bounds().getFirst().committedBytes() > 90 * MIB, "it may be wanted back");
        test.time.addAndGet(TenantWindow.TRIM_AFTER_NS);
        window.rest();
        assertTrue(test.windows.bounds().getFirst().committedBytes() < 90 * MIB);
        assertEquals(-1, test.hole(window, FakePages.GRANULE), "what is given back is the sink's");
        assertTrue(test.windows.bounds().getFirst().sinkBytes() > 0);
        window.free(before);
        assertEquals(0, window.close());
        assertEquals(NOTHING, test.driver.pages.left());
    }

    @Test
    void nobodySeesWhatOthersLeft() {
        TestWindows.Client client = test.joined("a");
        long address = client.window().allocate(3 * MIB, 1);
        for (long at = address; at < address + 3 * MIB; at += 4096) {
            assertEquals(0, test.driver.pages.getLong(at));
        }
        test.driver.pages.putLong(address, 0x5EC2E7);
        client.window().free(address);
        assertEquals(0, client.window().close());
        TestWindows.Client next = test.joined("b");
        assertEquals(0, next.window().backEverywhere());
        long again = next.window().allocate(3 * MIB, 1);
        assertEquals(0, test.driver.pages.getLong(again));
        ClientWindow window = next.window();
        for (long stray : new long[] {window.baseAddress() - window.guardBytes(), window.baseAddress() - 8, again + 64 * MIB,
                window.baseAddress() + window.sizeBytes() + window.guardBytes() - 8}) {
            assertEquals(0, test.driver.pages.getLong(stray), "the sink at 0x" + Long.toHexString(stray));
        }
    }

    @Test
    void everyFailureOfTheDriverLeavesTheWindowWholeAndNothingBehind() {
        for (int kind = 0; kind < 3; kind++) {
            for (int successes = 0; successes < 9; successes++) {
                fail(kind, successes);
            }
        }
        assertEquals(NOTHING, test.driver.pages.left());
    }

    private void fail(int kind, int successes) {
        String when = "kind " + kind + " after " + successes;
        TestWindows.Client client = test.joined("a");
        ClientWindow window = client.window();
        long kept = window.allocate(20 * MIB, 1);
        assertEquals(0, window.backEverywhere());
        test.driver.pages.putLong(kept, 77);
        FakePages pages = test.driver.pages;
        pages.createsBeforeFailure = kind == 0 ? successes : -1;
        pages.mapsBeforeFailure = kind == 1 ? successes : -1;
        pages.allowsBeforeFailure = kind == 2 ? successes : -1;
        long address = window.allocate(100 * MIB, 1);
        pages.createsBeforeFailure = -1;
        pages.mapsBeforeFailure = -1;
        pages.allowsBeforeFailure = -1;
        assertEquals(77, pages.getLong(kept), when);
        long later = window.allocate(60 * MIB, 1);
        assertNotEquals(0, later, when + ": the next one succeeds");
        assertEquals(-1, test.hole(window, 8 * MIB), when);
        window.free(later);
        if (address != 0) {
            window.free(address);
        }
        window.free(kept);
        assertEquals(0, window.close(), when);
        assertEquals(NOTHING, pages.left(), when);
    }

    @Test
    void pagesWaitForTheTenantsOwnWorkAndForNobodyElses() {
        TestWindows.Client client = test.joined("a");
        TestWindows.Client sibling = test.joined("a");
        TestWindows.Client other = test.joined("b");
        assertEquals(0, client.window().backEverywhere());
        test.driver.heldStreams.add(other.stream());
        assertNotEquals(0, client.window().allocate(MIB, 1), "another tenant's work is none of ours");
        test.driver.heldStreams.add(sibling.stream());
        assertEquals(0, client.window().allocate(200 * MIB, 1), "after 10 s it is given up");
        assertNotEquals(0, client.window().allocate(MIB, 1), "what has memory needs no rest");
        assertEquals(CudaResult.OUT_OF_MEMORY, client.window().whenQuiet(() -> 0));
        test.driver.heldStreams.clear();
        assertNotEquals(0, client.window().allocate(200 * MIB, 1));
        assertEquals(5, client.window().whenQuiet(() -> 5));
    }

    /**
     * A client that is leaving does not wait for its own streams, which may wait for a program that has ended: if it delayed the window, it would delay every
     * client that waits for those streams.
     */
    @Test
    void whoIsOnItsWayOutDoesNotWaitForItsOwnWork() {
        TestWindows.Client client = test.joined("a");
        assertEquals(0, client.window().backEverywhere());
        test.driver.heldStreams.add(client.stream());
        int[] asked = new int[1];
        client.window().whileWaiting(() -> asked[0]++ < 3);
        assertEquals(CudaResult.OUT_OF_MEMORY, client.window().whenQuiet(() -> 0));
        assertEquals(4, asked[0]);
        test.driver.heldStreams.clear();
        assertEquals(5, client.window().whenQuiet(() -> 5));
    }

    @Test
    void memoryThatOneTenantFreedIsAnothersToHave() throws Exception {
        TestWindows.Client client = test.joined("a");
        TestWindows.Client hungry = test.joined("b");
        List<Long> all = new ArrayList<>();
        long address;
        while ((address = client.window().allocate(100 * MIB, 1)) != 0) {
            all.add(address);
        }
        assertTrue(all.size() > 5, "it has most of the device");
        assertEquals(0, hungry.window().allocate(200 * MIB, 1), "nothing is free");
        all.forEach(client.window()::free);
        Thread resting = Thread.ofPlatform().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                client.window().rest();
                Thread.onSpinWait();
            }
        });
        try {
            assertNotEquals(0, hungry.window().allocate(200 * MIB, 1), "it is given back when somebody needs it");
        } finally {
            resting.interrupt();
            resting.join();
        }
    }

    @Test
    void aQuotaGrowsAndShrinksWhileTheTenantRuns() {
        TenantMemory account = new TenantMemory(64 * MIB);
        TestWindows.Client client = test.client("a", account);
        assertEquals(0, client.window().open());
        long first = client.window().allocate(60 * MIB, 1);
        assertNotEquals(0, first);
        assertEquals(0, client.window().allocate(60 * MIB, 1));
        account.limitBytes(192 * MIB);
        long second = client.window().allocate(60 * MIB, 1);
        assertNotEquals(0, second);
        assertEquals(192 * MIB, test.windows.bounds().getFirst().quotaBytes());
        account.limitBytes(32 * MIB);
        assertEquals(0, client.window().allocate(MIB, 1), "what is over the limit stays, and nothing comes");
        client.window().free(first);
        client.window().free(second);
        assertNotEquals(0, client.window().allocate(MIB, 1));
        assertTrue(test.windows.bounds().getFirst().committedBytes() <= 32 * MIB, test.windows.bounds().toString());
    }

    @Test
    void hostMemoryTakesTheSinksPlaceAndGivesItBack() {
        TestWindows.Client client = test.joined("a");
        ClientWindow window = client.window();
        long before = window.hostAddresses().take(window.hostAddresses().rounded(5000), 0);
        assertEquals(0, window.openHost(before, FakePages.GRANULE, () -> 0));
        assertEquals(0, window.backEverywhere());
        assertEquals(before, test.hole(window, FakePages.GRANULE), "host memory is not the driver's to map");
        long address = window.hostAddresses().take(20 * MIB, 0);
        assertEquals(0, window.openHost(address, 20 * MIB, () -> {
            assertFalse(test.driver.pages.isAllowed(address));
            assertFalse(test.driver.pages.isAllowed(address + 20 * MIB - 1));
            assertTrue(test.driver.pages.isAllowed(address + 20 * MIB));
            return 0;
        }));
        assertEquals(7, window.openHost(address + 40 * MIB, 2 * MIB, () -> 7), "what it returns");
        assertTrue(test.driver.pages.isAllowed(address + 40 * MIB), "and all is as before");
        assertEquals(0, window.closeHost(address, 20 * MIB, () -> 0));
        assertEquals(0, window.closeHost(before, FakePages.GRANULE, () -> 0));
        assertEquals(-1, test.hole(window, FakePages.GRANULE));
        assertEquals(0, window.close());
        assertEquals(NOTHING, test.driver.pages.left());
    }
}
