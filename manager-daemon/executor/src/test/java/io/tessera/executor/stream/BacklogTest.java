package io.tessera.executor.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.driver.DriverCalls;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client may have queued: by number, and by time once it is known how long its submissions take. */
class BacklogTest {
    private static final long MS = 1_000_000L;

    private final Arena arena = Arena.ofShared();
    private final FakeDriver driver = new FakeDriver();
    private final ClientStream stream = new ClientStream(0x7000, 1, false, false);
    private long nowNs = 1_000_000 * MS;
    private boolean beside;
    private final Backlog backlog = new Backlog(new ProgressEvents(new DriverCalls(driver, arena)), MoveTime.ofSoftware(), () -> nowNs,
            () -> beside ? Backlog.BESIDE_NS : Backlog.ALONE_NS);
    private final ArrayDeque<long[]> marks = new ArrayDeque<>();
    private long submitted;

    @AfterEach
    void close() {
        driver.close();
        arena.close();
    }

    private void submit() {
        submitted++;
        if (backlog.submitted(stream)) {
            long event = backlog.mark(stream);
            driver.doneEvents.remove(event);
            marks.add(new long[] {event, submitted});
        }
    }

    /** A client submits whatever it may, and the device does one submission after the other; returns the longest queue of the second half. */
    private long longest(long submissionNs, int submissions) {
        driver.heldStreams.add(stream.value());
        long longest = 0;
        for (int done = 1; done <= submissions; done++) {
            while (!backlog.isFull() && submitted - done < 10_000) {
                submit();
            }
            longest = done > submissions / 2 ? Math.max(longest, submitted - done + 1) : 0;
            for (int look = 0; look < 4; look++) {
                nowNs += submissionNs / 4;
                backlog.isFull();
            }
            while (!marks.isEmpty() && marks.peek()[1] <= done) {
                driver.doneEvents.add(marks.poll()[0]);
            }
        }
        return longest;
    }

    @Test
    void longKernelsAreFewBesideOthers() {
        beside = true;
        long longest = longest(13 * MS, 200);
        assertTrue(longest <= 3, longest + " of 13 ms");
    }

    @Test
    void aloneMoreAreQueued() {
        long longest = longest(13 * MS, 400);
        assertTrue(longest > 3 && longest <= 20, longest + " of 13 ms");
    }

    @Test
    void oneLongKernelIsQueuedWhileAnotherNeedsTheContext() {
        beside = true;
        backlog.ask(() -> false, () -> true);
        assertEquals(1, longest(13 * MS, 200));
    }

    /** Another client makes one call after the other for which the driver waits for all that is queued. */
    @Test
    void afterAVeryLongKernelTheNextWaitsForOthersCalls() {
        boolean[] awaited = {true};
        beside = true;
        backlog.ask(() -> false, () -> awaited[0]);
        driver.heldStreams.add(stream.value());
        for (int i = 0; i < 8; i++) {
            while (!backlog.isFull()) {
                submit();
            }
            for (int look = 0; look < 4; look++) {
                nowNs += 100 * MS;
                backlog.isFull();
            }
            marks.forEach(mark -> driver.doneEvents.add(mark[0]));
            marks.clear();
            nowNs += backlog.isFull() && i < 7 ? 500 * MS : 0;
        }
        assertTrue(backlog.isFull(), "the device has done all that it was given");
        nowNs += 390 * MS;
        assertTrue(backlog.isFull());
        nowNs += 20 * MS;
        assertFalse(backlog.isFull(), "no longer than a kernel took");
        submit();
        assertTrue(backlog.isFull());
        driver.doneEvents.add(marks.poll()[0]);
        assertTrue(backlog.isFull());
        awaited[0] = false;
        assertFalse(backlog.isFull(), "the other has made its calls");
    }

    @Test
    void shortOnesAreBoundedByTimeWhileAnotherNeedsTheContext() {
        backlog.ask(() -> false, () -> true);
        long longest = longest(MS / 10, 4000);
        assertTrue(longest > 10 && longest <= 40, longest + " of 0.1 ms");
    }

    @Test
    void whatIsQueuedIsBoundedAsUsualAfterIt() {
        boolean[] awaited = {true};
        beside = true;
        backlog.ask(() -> false, () -> awaited[0]);
        assertEquals(1, longest(13 * MS, 50));
        awaited[0] = false;
        assertFalse(backlog.isFull());
        submit();
        assertFalse(backlog.isFull());
    }

    @Test
    void aStreamThatMayWaitForItsProgramIsListenedTo() {
        beside = true;
        longest(13 * MS, 20);
        while (!backlog.isFull()) {
            submit();
        }
        boolean[] stands = {false};
        backlog.ask(() -> stands[0], () -> false);
        nowNs += 100 * MS;
        assertTrue(backlog.isFull());
        stands[0] = true;
        assertFalse(backlog.isFull());
    }

    @Test
    void whatDoesNotMoveForSecondsMayWaitForWhatComesNext() {
        beside = true;
        longest(13 * MS, 20);
        while (!backlog.isFull()) {
            submit();
        }
        nowNs += 1900 * MS;
        assertTrue(backlog.isFull());
        nowNs += 200 * MS;
        assertFalse(backlog.isFull());
    }

    @Test
    void shortOnesAreBoundedByNumberAlone() {
        beside = true;
        assertEquals(384, longest(20_000, 4000), 64);
    }
}
