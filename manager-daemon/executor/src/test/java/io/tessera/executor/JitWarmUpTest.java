package io.tessera.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.clock.NanoClock;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DeviceSnapshot;
import io.tessera.executor.fence.FencingService;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.executor.part.ClientPart;
import io.tessera.executor.print.PrintedText;
import io.tessera.executor.session.Reports;
import io.tessera.executor.session.SessionFactory;
import io.tessera.executor.warmup.JitWarmUp;
import io.tessera.executor.worker.TestWorkers;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.os.linux.Linux;
import io.tessera.testing.driver.FakeDriver;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A warm-up makes the calls it is for, and leaves nothing. */
@Timeout(180)
class JitWarmUpTest {
    private final FakeDriver driver = new FakeDriver();
    private final List<String> reported = new CopyOnWriteArrayList<>();
    /** A tenant's program that always has work. */
    private ClientPart other;

    private JitWarmUp start() throws Exception {
        NanoClock clock = Clocks.system().monotonic();
        DeviceContext device = DeviceContext.open(driver, 0);
        SessionFactory factory = new SessionFactory(device, DeviceSnapshot.take(device), Linux.sharedMemory(),
                Linux.open().files(), Linux.futex(), clock, Linux.open().processes().pid(), Linux.open().processes().uid(),
                new PrintedText(Linux.printedText(), Linux.printedText().create("printed")),
                new FencingService(device, CodeCache.none(), TrustedImages.none(), TestWorkers.shared(), clock));
        Reports reports = new Reports() {
            @Override
            public void contextLost(int result, String reason) {
                reported.add(reason);
            }

            @Override
            public void stuck(String tenant, String why) {
                reported.add("stuck");
            }

            @Override
            public void leaves(Thread client) {
                // of no matter here: it has asked for nothing
            }

            @Override
            public void look() {
                reported.add("look");
            }
        };
        driver.recording = false;
        other = factory.parts().join("other");
        other.busy(() -> true);
        return JitWarmUp.start(factory, reports, Linux.sharedMemory(), Linux.futex(), clock);
    }

    private void assertNothingLives() {
        for (String kind : List.of("memory", "stream", "event", "module", "library", "registered")) {
            assertEquals(0, driver.alive(kind), kind);
        }
        assertEquals(List.of(), reported);
    }

    @Test
    void itLaunchesAndAllocatesAndEndsByItself() throws Exception {
        try (JitWarmUp warmUp = start()) {
            RelayTestClient.await(warmUp::isOver, "the warm-up's end");
        }
        assertTrue(driver.launches.get() > 0, "no launch: how many there are in its two seconds is the machine's affair");
        assertNothingLives();
    }

    @Test
    void whoeverIsThereIsAloneAllTheSame() throws Exception {
        boolean[] beside = new boolean[1];
        try (JitWarmUp warmUp = start()) {
            RelayTestClient.await(() -> {
                beside[0] |= other.isBesideOthers();
                return warmUp.isOver();
            }, "the warm-up's end");
        }
        assertFalse(beside[0]);
    }

    @Test
    void itCanBeEndedAtAnyTime() throws Exception {
        JitWarmUp warmUp = start();
        RelayTestClient.await(() -> driver.launches.get() > 0, "a launch");
        warmUp.close();
        assertTrue(warmUp.isOver());
        assertNothingLives();
    }

    @Test
    void whoHasItStopNeedNotWaitForIt() throws Exception {
        try (JitWarmUp warmUp = start()) {
            RelayTestClient.await(() -> driver.launches.get() > 0, "a launch");
            warmUp.stop();
            RelayTestClient.await(warmUp::isOver, "the warm-up's end");
        }
        assertNothingLives();
    }
}
