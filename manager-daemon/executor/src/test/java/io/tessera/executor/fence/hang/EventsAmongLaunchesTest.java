package io.tessera.executor.fence.hang;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.MoveTime;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the submissions that a stream gets beyond the client's launches: an event from time to time, which serves all that need one. */
class EventsAmongLaunchesTest {
    private static final int LAUNCHES = 1280;
    private static final int EVERY = 64;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long LOOK_NS = 100_000_000L;

    private final Arena arena = Arena.ofShared();
    private final FakeDriver driver = new FakeDriver();
    private ClientStreams streams;
    private ClientStream stream;
    private Watchdog watchdog;
    private long nowNs = 1_000 * SECOND_NS;

    @BeforeEach
    void open() {
        DriverCalls calls = new DriverCalls(driver, arena);
        streams = new ClientStreams(calls, new ClientHandles(0), MoveTime.ofSoftware());
        streams.createContext(1);
        stream = streams.find(0, streams.context(1));
        watch(calls, 3);
    }

    private void watch(DriverCalls calls, int aloneS) {
        FenceSettings settings = new FenceSettings(FenceChoice.MASK, UnfencedPolicy.REFUSE, true, aloneS, 3);
        watchdog = new Watchdog(settings, new TenantPresence().enter("one", 1, () -> {}), calls, streams.progress(), ProgressCounters.none(),
                new SynchronizationGate(() -> 1).enter("client"));
        streams.atMarks(watchdog::marked);
    }

    @AfterEach
    void close() {
        driver.close();
        arena.close();
    }

    private void launch() {
        streams.before(stream);
        streams.after(stream);
        watchdog.launched(stream.value(), nowNs);
    }

    private long recorded() {
        return driver.calls.stream().filter(call -> call.startsWith("cuEventRecord")).count();
    }

    /** The watchdog sees that launches are short. */
    private void warm() {
        for (int looks = 0; looks < 10; looks++) {
            for (int i = 0; i < LAUNCHES; i++) {
                launch();
            }
            assertFalse(watchdog.isExpired(nowNs += LOOK_NS));
        }
    }

    /** A client that is alone has no limit, and is watched for the case that others come. */
    @Test
    void whoIsAloneHasNoMore() {
        watch(new DriverCalls(driver, arena), 0);
        backlogAndWatchdogShareThem();
    }

    @Test
    void backlogAndWatchdogShareThem() {
        warm();
        long before = recorded();
        for (int i = 0; i < LAUNCHES; i++) {
            launch();
        }
        long more = recorded() - before;
        // The watchdog may add an event of its own at the count that its last look has left.
        assertTrue(more >= LAUNCHES / EVERY && more <= LAUNCHES / EVERY + 1, more + " events");
    }

    /** Their time is not known yet: a queue of them is not one endless kernel. */
    @Test
    void aQueueOfLongKernelsIsNotEndless() {
        driver.heldStreams.add(stream.value());
        for (int i = 0; i < EVERY / 2; i++) {
            launch();
        }
        int events = driver.heldEvents.size(); // of the watchdog behind each, and of the backlog behind some
        int done = 0;
        for (int i = 0; i < EVERY / 2; i++) {
            assertFalse(watchdog.isExpired(nowNs += 2 * SECOND_NS), "kernel " + i);
            for (; done < (i + 1) * events / (EVERY / 2); done++) {
                driver.doneEvents.add(driver.heldEvents.remove());
            }
            assertFalse(watchdog.isExpired(nowNs += LOOK_NS));
        }
    }

    @Test
    void whereLaunchesBecomeLongTheyShareFewer() {
        warm();
        driver.heldStreams.add(stream.value());
        launch();
        for (int looks = 0; looks < 20; looks++) {
            assertFalse(watchdog.isExpired(nowNs += LOOK_NS));
        }
        driver.heldStreams.clear();
        assertFalse(watchdog.isExpired(nowNs += LOOK_NS));
        driver.heldStreams.add(stream.value());
        long before = recorded();
        launch();
        launch();
        assertEquals(before + 2, recorded());
        assertFalse(watchdog.isExpired(nowNs += LOOK_NS));
        assertTrue(watchdog.isExpired(nowNs += 4 * SECOND_NS));
    }

    @Test
    void whatIsSharedIsUsedAgainWhenAllHaveGivenItBack() {
        warm();
        driver.heldStreams.add(stream.value());
        for (int i = 0; i < LAUNCHES && !streams.isFull(); i++) {
            launch();
        }
        assertTrue(streams.isFull());
        assertTrue(recorded() < LAUNCHES, "where launches are many and done, not each has one");
        int made = driver.made("event").size();
        driver.heldStreams.clear();
        assertFalse(streams.isFull());
        nowNs += SECOND_NS;
        assertFalse(watchdog.isExpired(nowNs));
        for (int i = 0; i < LAUNCHES; i++) {
            launch();
            watchdog.isExpired(nowNs += SECOND_NS);
        }
        assertTrue(driver.made("event").size() <= made + 3, () -> driver.made("event").toString());
        watchdog.close();
        streams.destroyContext(streams.context(1));
        streams.close();
        assertEquals(0, driver.alive("event"));
    }
}
