package io.tessera.executor.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.guardian.window.WindowLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A tenant's memory lies in the first 4 GiB of its window as long as there is room; before it gets anything else, kernels end that reach no
 * further.
 */
@Timeout(60)
class NarrowWindowTest {
    private static final long GIB = 1L << 30;
    private static final long MIB = TestWindows.MIB;
    private static final long TOO_LONG_NS = 9_000_000_000L;

    private TestWindows test;
    private TestWindows.Client client;
    private ClientWindow window;

    @BeforeEach
    void open() throws Exception {
        test = new TestWindows(16 * GIB);
        client = test.joined("a");
        window = client.window();
    }

    @AfterEach
    void close() {
        test.close();
    }

    private boolean isNear(long address, long bytes) {
        return address >= window.baseAddress() && address + bytes <= window.baseAddress() + WindowLayout.MIN_SIZE_BYTES;
    }

    private long host(long bytes) {
        long address = window.hostAddresses().take(window.hostAddresses().rounded(bytes), 0);
        assertEquals(CudaResult.SUCCESS, window.openHost(address, window.hostAddresses().rounded(bytes), () -> CudaResult.SUCCESS));
        return address;
    }

    @Test
    void memoryOfBothKindsIsNearAsLongAsThereIsRoom() {
        for (int i = 0; i < 6; i++) {
            assertTrue(isNear(window.allocate(GIB / 2, 512), GIB / 2), i + " of half a GiB");
        }
        long first = host(400 * MIB);
        assertTrue(isNear(first, 400 * MIB) && window.hostAddresses().contains(first));
        assertTrue(window.isNarrow());
        long second = host(200 * MIB);
        assertFalse(isNear(second, 200 * MIB));
        assertTrue(window.contains(second, 200 * MIB) && window.hostAddresses().contains(second));
        assertFalse(window.isNarrow());
        assertTrue(isNear(host(100 * MIB), 100 * MIB), "there is still room");
        assertFalse(window.isNarrow(), "never again");
    }

    @Test
    void deviceMemoryDoesNotReachIntoNearHostMemory() {
        long host = host(MIB);
        for (long at = window.allocate(GIB / 4, 512); window.isNarrow(); at = window.allocate(GIB / 4, 512)) {
            assertTrue(at + GIB / 4 <= host, Long.toHexString(at));
        }
    }

    @Test
    void anAllocationThatIsLargerLiesBeyond() {
        long address = window.allocate(5 * GIB, 512);
        assertTrue(window.contains(address, 5 * GIB) && !isNear(address, 5 * GIB));
        assertFalse(window.isNarrow());
    }

    @Test
    void reservedAddressesCount() {
        assertTrue(window.isNarrow());
        assertTrue(window.reserve(4 * GIB, 2 * MIB, 0) != 0);
        assertFalse(window.isNarrow());
    }

    @Test
    void kernelsThatReachNoFurtherEndBefore() {
        assertTrue(window.launchesNarrow());
        test.driver.heldStreams.add(client.stream());
        long beganNs = test.time.get();
        assertTrue(window.reserve(4 * GIB, 2 * MIB, 0) != 0);
        assertTrue(test.time.get() - beganNs > TOO_LONG_NS, "waited for the kernel, which does not end");
        assertFalse(window.launchesNarrow());
    }

    @Test
    void nobodyWaitsWhereThereAreNone() {
        test.driver.heldStreams.add(client.stream());
        long beganNs = test.time.get();
        assertTrue(window.reserve(4 * GIB, 2 * MIB, 0) != 0);
        assertTrue(test.time.get() - beganNs < TOO_LONG_NS);
        assertFalse(window.launchesNarrow());
    }
}
