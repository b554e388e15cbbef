package io.tessera.executor.window;

import static io.tessera.executor.window.TestWindows.MIB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.wait.WaitLimit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that finds no memory waits for the memory of clients that have left, and for no others. */
@Timeout(180)
class PendingReclaimsTest {
    /** While others could leave the device, and do not. */
    private static final long SOON_NS = 11_000_000_000L;

    private TestWindows test;
    private long most;

    @BeforeEach
    void open() throws Exception {
        test = new TestWindows();
        most = test.driver.pages.capacityBytes / 4 * 3;
    }

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void memoryOfAClientThatHasGoneIsWaitedFor() {
        TestWindows.Client gone = test.joined("a");
        assertNotEquals(0, gone.window().allocate(most, 1));
        TestWindows.Client next = test.joined("b");
        gone.window().leaving();
        AtomicInteger asked = new AtomicInteger();
        assertTrue(next.window().attemptWithinLimit(() -> {
            if (asked.getAndIncrement() == 0) {
                gone.window().giveBack();
                assertEquals(0, gone.window().close());
                gone.window().abandon();
                return false; // as if it had been asked before
            }
            return next.window().allocate(most, 1) != 0;
        }));
        assertEquals(2, asked.get());
    }

    @Test
    void withNobodyGoneItIsRefusedSoon() {
        TestWindows.Client other = test.joined("a");
        assertNotEquals(0, other.window().allocate(most, 1));
        TestWindows.Client next = test.joined("b");
        long beganNs = test.time.get();
        assertEquals(0, next.window().allocate(most, 1));
        assertTrue(test.time.get() - beganNs < SOON_NS, "the other could have left the device in that time");
    }

    @Test
    void whoNeverGoesIsNotWaitedForLongerThanTheBound() {
        TestWindows.Client other = test.joined("a");
        assertNotEquals(0, other.window().allocate(most, 1));
        other.window().leaving();
        TestWindows.Client next = test.joined("b");
        long beganNs = test.time.get();
        assertEquals(0, next.window().allocate(most, 1));
        assertTrue(test.time.get() - beganNs >= WaitLimit.PENDING_RECLAIMS.mostNs());
        other.window().abandon();
        beganNs = test.time.get();
        assertEquals(0, next.window().allocate(most, 1));
        assertTrue(test.time.get() - beganNs < SOON_NS, "it is no longer going");
    }

    @Test
    void whoGoesDoesNotWaitForItself() {
        TestWindows.Client client = test.joined("a");
        assertNotEquals(0, client.window().allocate(most, 1));
        client.window().leaving();
        long beganNs = test.time.get();
        assertEquals(0, client.window().allocate(most, 1));
        assertTrue(test.time.get() - beganNs < 5_000_000_000L);
        client.window().abandon();
    }

    @Test
    void theTenantsLimitIsNoLessPatient() {
        TenantMemory account = new TenantMemory(100 * MIB);
        TestWindows.Client gone = test.client("a", account);
        assertEquals(0, gone.window().open());
        assertTrue(account.take(80 * MIB));
        TestWindows.Client next = test.client("a", account);
        assertEquals(0, next.window().open());
        gone.window().leaving();
        AtomicInteger asked = new AtomicInteger();
        assertTrue(next.window().attemptWithinLimit(() -> {
            boolean taken = account.take(80 * MIB);
            if (asked.getAndIncrement() == 0) {
                account.giveBack(80 * MIB);
                gone.window().abandon();
            }
            return taken;
        }));
        assertEquals(2, asked.get());
    }
}
