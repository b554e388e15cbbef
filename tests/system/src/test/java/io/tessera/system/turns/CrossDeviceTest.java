package io.tessera.system.turns;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.system.Await;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A process on two devices that is busy with one of them does not block the other: while it waits for the second device, or
 * is inside a blocking copy there, its turn on the first one is given back.
 */
@ExtendWith(RunWatcher.class)
class CrossDeviceTest {
    /** How long the process is busy with its second device: much longer than a hand-over takes on any machine. */
    private static final Duration BUSY = Duration.ofSeconds(40);

    private static void otherDeviceIsHandedOver(TestRun run, String quantum, String script, String blocking) {
        run.manager("--mode", "on", "--quantum", quantum);
        RunningProgram both = run.program("console").script("devices 2; " + script).start();
        both.okay("init");
        both.okay("context 0");
        both.okay("context 1");
        both.okay("alloc 4096");
        both.okay("context 0");
        both.okay("launch 1000 1");
        both.okay("sync");
        both.okay("context 1");
        both.okay("launch " + BUSY.toMillis() * 1000 + " 1");
        RunningProgram first = run.program("console").script("devices 2").start();
        first.okay("init");
        first.okay("context 0");
        both.tell(blocking);
        Await.sleep(Duration.ofMillis(100)); // it is inside the call by then
        first.okay("launch 1000 1");
        assertFalse(both.hasLine(), "device 0 was handed over only when the other one was done");
        assertTrue(both.process().isAlive(), () -> both.errors().toString());
        first.quit();
        both.kill();
    }

    @Test
    void waitingForOneDeviceLeavesTheOtherIdle(TestRun run) {
        otherDeviceIsHandedOver(run, "100s", "", "sync");
    }

    @Test
    void aBlockingCopyOnOneDeviceDoesNotHoldTheOther(TestRun run) {
        otherDeviceIsHandedOver(run, "20ms", "delay cuMemcpyDtoH_v2 40s", "check 0 0");
    }
}
