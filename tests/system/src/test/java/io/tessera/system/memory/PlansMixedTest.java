package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs of all plans on one device, and the choices of plan auto, with real programs and a real manager. */
@ExtendWith(RunWatcher.class)
class PlansMixedTest {
    private static final long MIB = 1L << 20;
    private static final String SCRIPT = "memory 64MiB";
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private static RunningProgram console(TestRun run, String plan, String tenant) {
        return console(run, plan, tenant, SCRIPT);
    }

    private static RunningProgram console(TestRun run, String plan, String tenant, String script) {
        RunningProgram program = run.program("console").plan(plan).tenant(tenant).script(script).start();
        program.openDevice();
        return program;
    }

    private static void fill(RunningProgram program, int index, long bytes, int mark) {
        program.okay("alloc " + bytes);
        program.okay("fill " + index + " " + mark);
    }

    private static JsonObject onDevice(ManagerProcess manager, RunningProgram program) {
        return manager.control().clientDevice(program.pid());
    }

    private static String choice(ManagerProcess manager, RunningProgram program) {
        return onDevice(manager, program).getAsJsonObject("residency").get("choice").getAsString();
    }

    private static long memory(ManagerProcess manager, String name) {
        return manager.control().device(0).getAsJsonObject("memory").get(name).getAsLong();
    }

    @Test
    void whatTheDeviceCannotHoldBecomesManagedUnderAuto(TestRun run) {
        run.expectLine("memory exceeds what the GPU can hold");
        ManagerProcess manager = run.manager("--capacity", "32MiB", "--executors", "none");
        RunningProgram large = console(run, "auto", "large");
        fill(large, 0, 20 * MIB, 1);
        assertTrue(choice(manager, large).startsWith("swap: "), choice(manager, large));
        fill(large, 1, 16 * MIB, 2);
        Await.until("the overflow is seen", PATIENCE,
                () -> choice(manager, large).equals("swap, and managed for 0.02 GiB beyond what the device can hold at once"));
        assertEquals(16 * MIB, onDevice(manager, large).get("managedBytes").getAsLong());
        fill(large, 2, 8 * MIB, 3);
        assertEquals(28 * MIB, onDevice(manager, large).getAsJsonObject("residency").get("neededBytes").getAsLong(),
                "what fits is swapped as before");
        RunningProgram other = console(run, "auto", "other");
        fill(other, 0, 24 * MIB, 4);
        for (int round = 0; round < 2; round++) {
            large.okay("launch 1000 2");
            for (int i = 0; i < 3; i++) {
                large.okay("check " + i + " " + (i + 1));
            }
            other.okay("check 0 4");
        }
        large.okay("free 1");
        Await.until("no overflow any more", PATIENCE, () -> choice(manager, large).startsWith("swap: "));
        large.quit().exits(0);
        other.quit().exits(0);
    }

    @Test
    void autoWithoutMappedMemoryIsManagedAndSaysSo(TestRun run) {
        run.expectClientError("cannot map memory");
        ManagerProcess manager = run.manager("--capacity", "32MiB", "--executors", "none");
        RunningProgram program = run.program("console").plan("auto").tenant("old").script(SCRIPT + "; fail cuMemGetAllocationGranularity 801")
                .start();
        program.openDevice();
        fill(program, 0, 8 * MIB, 1);
        assertEquals("managed: the device maps no memory, so none can be swapped", choice(manager, program));
        assertEquals(8 * MIB, onDevice(manager, program).get("managedBytes").getAsLong());
        program.okay("check 0 1");
        program.quit().exits(0);
    }

    /** Memory of plain and relayed programs reduces the memory for programs whose memory moves. */
    @Test
    void allPlansOnOneDevice(TestRun run) {
        String script = "memory 256MiB"; // a relayed program has a sink of 32 MiB, and memory in pieces of that size
        ManagerProcess manager = run.manager(Map.of("TESSERA_SCRIPT", script), "--capacity", "256MiB", "--executors",
                "nvidia");
        RunningProgram relayed = run.program("relay_worker", "launches", "5", "0").env("TESSERA_SHARE", "space")
                .tenant("space").start();
        relayed.awaitLine("ready");
        RunningProgram plain = console(run, "plain", "plain", script);
        fill(plain, 0, 8 * MIB, 1);
        RunningProgram managed = console(run, "managed", "managed", script);
        fill(managed, 0, 12 * MIB, 2);
        List<RunningProgram> swapping = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            swapping.add(console(run, i == 2 ? "auto" : "swap", "s" + i, script));
            fill(swapping.get(i), 0, 80 * MIB, 3 + i);
        }
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < swapping.size(); i++) {
                swapping.get(i).okay("launch 1000 2");
                swapping.get(i).okay("check 0 " + (3 + i));
            }
            managed.okay("check 0 2");
            plain.okay("check 0 1");
        }
        Await.until("the executor's memory is counted", PATIENCE, () -> memory(manager, "executorBytes") > 0);
        long fixed = memory(manager, "fixedBytes");
        assertTrue(fixed >= memory(manager, "executorBytes") + 8 * MIB, fixed + " bytes cannot leave");
        Await.until("the others fit beside it", PATIENCE, () -> memory(manager, "residentBytes") <= 256 * MIB - fixed);
        relayed.tell("enough");
        relayed.end().exits(0);
        swapping.forEach(program -> program.quit().exits(0));
        managed.quit().exits(0);
        plain.quit().exits(0);
    }
}
