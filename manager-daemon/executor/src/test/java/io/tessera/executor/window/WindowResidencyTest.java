package io.tessera.executor.window;

import static io.tessera.executor.window.TestWindows.MIB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.window.TestWindows.Client;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests when a tenant's memory leaves the device and comes back. */
@Timeout(180)
class WindowResidencyTest {
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
    void workOfAContextThatIsGoneKeepsMemoryOnTheDevice() {
        Client client = test.joined("a");
        client.window().allocate(4 * MIB, 512);
        test.driver.heldStreams.add(client.stream());
        client.streams().destroyContext(client.streams().context(1));
        test.windows.park("a");
        assertEquals(0, client.window().giveWay());
        assertFalse(client.window().isAway());
        test.driver.release();
        test.time.addAndGet(2_000_000_000L);
        assertEquals(0, client.window().giveWay());
        assertTrue(client.window().isAway());
    }

    @Test
    void theOperatorsLastWordCounts() {
        Client client = test.joined("a");
        client.window().allocate(4 * MIB, 512);
        test.windows.park("a");
        test.windows.recall("a");
        assertEquals(0, client.window().giveWay());
        assertFalse(client.window().isAway(), "it was told to stay before it had left");
        test.windows.park("a");
        assertEquals(0, client.window().giveWay());
        assertTrue(client.window().isAway());
        test.windows.recall("a");
        test.windows.park("a");
        assertFalse(client.window().isRecalled());
        assertEquals(0, client.window().giveWay());
        assertTrue(client.window().isAway());
    }
}
