package io.tessera.system.turns;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Mode auto on a device that time-slices by itself, where each switch costs a quarter of a slice. */
@ExtendWith(RunWatcher.class)
class AutoModeTest {
    private static final String SLICES = "slices 2ms 500us";
    /** The mode decides within seconds; on a busy machine it repeats its measurements until the result is clear. */
    private static final Duration DECIDES_WITHIN = Duration.ofSeconds(60);

    private static RunningProgram worker(TestRun run, String name, String... work) {
        return run.program("worker", work).with("ms=0").script(SLICES).tenant(name).start().awaitLine("ready");
    }

    /** Two clients that keep the device busy lose a fifth to switching, so they take turns. */
    @Test
    void clientsThatKeepTheDeviceBusyTakeTurns(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "auto", "--quantum", "100ms");
        RunningProgram a = worker(run, "a", "kernel_us=1000", "batch=20");
        RunningProgram b = worker(run, "b", "kernel_us=1000", "batch=20");
        Await.until("auto chooses turns", DECIDES_WITHIN, () -> stays(manager, "exclusive", 20)
                && manager.control().device(0).get("handovers").getAsLong() > 20, () -> state(manager));
        System.out.println("busy pair: " + state(manager));
        a.kill();
        b.kill();
    }

    /** Two clients that leave the device idle for most of the time gain nothing from turns, so they run freely. */
    @Test
    void clientsThatLeaveTheDeviceIdleRunFree(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "auto", "--quantum", "100ms");
        RunningProgram a = worker(run, "a", "kernel_us=200", "batch=1", "host_us=3000");
        RunningProgram b = worker(run, "b", "kernel_us=200", "batch=1", "host_us=3000");
        Await.sleep(Duration.ofSeconds(4));
        Await.until("auto leaves them free", DECIDES_WITHIN, () -> stays(manager, "free", 40), () -> state(manager));
        System.out.println("idle pair: " + state(manager));
        a.kill();
        b.kill();
    }

    /** A client that is alone never waits. */
    @Test
    void clientAloneRunsFree(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "auto");
        RunningProgram a = worker(run, "a", "kernel_us=1000", "batch=20");
        Await.sleep(Duration.ofSeconds(2));
        JsonObject device = manager.control().clientDevice(a.pid());
        assertEquals(0, device.get("drains").getAsLong(), device::toString);
        a.kill();
    }

    private static boolean stays(ManagerProcess manager, String effective, int looks) {
        for (int i = 0; i < looks; i++) {
            if (!effective(manager).equals(effective)) {
                return false;
            }
            Await.sleep(Duration.ofMillis(50));
        }
        return true;
    }

    private static String effective(ManagerProcess manager) {
        return manager.control().device(0).get("effective").getAsString();
    }

    private static String state(ManagerProcess manager) {
        return manager.control().device(0).toString();
    }
}
