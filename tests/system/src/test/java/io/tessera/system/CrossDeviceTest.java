package io.tessera.system;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A process on two devices that is busy with one does not keep the other: whether it waits for the second device, or
 * sits inside a blocking copy there, its turn on the first is given back.
 */
@ExtendWith(RunWatcher.class)
class CrossDeviceTest {
    /** How long the process is busy with its second device. */
    private static final Duration BUSY = Duration.ofSeconds(3);

    /** A hand-over takes milliseconds; half the time that a wait for the other device would take. */
    private static final Duration AT_MOST = BUSY.dividedBy(2);

    private static void otherDeviceIsHandedOver(TestRun run, String quantum, String script, String blocking) {
        run.manager("--mode", "on", "--quantum", quantum);
        RunningCase both = run.program("console").script("devices 2; " + script).start();
        both.okay("init");
        both.okay("context 0");
        both.okay("context 1");
        both.okay("alloc 4096");
        both.okay("context 0");
        both.okay("launch 1000 1");
        both.okay("sync");
        both.okay("context 1");
        both.okay("launch " + BUSY.toMillis() * 1000 + " 1");
        RunningCase first = run.program("console").script("devices 2").start();
        first.okay("init");
        first.okay("context 0");
        both.tell(blocking);
        Await.sleep(Duration.ofMillis(100)); // it is inside the call by then
        long begin = System.nanoTime();
        first.okay("launch 1000 1");
        Duration waited = Duration.ofNanos(System.nanoTime() - begin);
        both.nextLine(Duration.ofSeconds(20));
        both.quit();
        first.quit();
        assertTrue(waited.compareTo(AT_MOST) < 0, () -> "device 0 was handed over after " + waited);
    }

    @Test
    void waitingForOneDeviceLeavesTheOtherIdle(TestRun run) {
        otherDeviceIsHandedOver(run, "10s", "", "sync");
    }

    @Test
    void aBlockingCopyOnOneDeviceDoesNotHoldTheOther(TestRun run) {
        otherDeviceIsHandedOver(run, "20ms", "delay cuMemcpyDtoH_v2 3s", "check 0 0");
    }
}
