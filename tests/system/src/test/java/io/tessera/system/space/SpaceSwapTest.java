package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TesseraCommand;
import io.tessera.system.TestRun;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Memory of a program in space sharing leaves the device by an operator's order: commands, status, and the memory's contents afterwards. */
@ExtendWith(RunWatcher.class)
class SpaceSwapTest {
    private static final long MIB = 1L << 20;
    private static final long BYTES = 48 * MIB;

    private static RunningProgram holder(TestRun run, int value) {
        RunningProgram program = run.program("console").env("TESSERA_SHARE", "space").tenant("holder").start();
        program.okay("init");
        program.okay("streams 0"); // an executor does not accept the scripted driver's code as an image
        assertEquals("0", program.okay("alloc " + BYTES));
        program.okay("fill 0 " + value);
        program.okay("sync");
        return program;
    }

    private static JsonObject window(ManagerProcess manager) {
        for (JsonElement executor : manager.control().status().getAsJsonArray("executors")) {
            if (executor.getAsJsonObject().has("windows")) {
                for (JsonElement window : executor.getAsJsonObject().getAsJsonArray("windows")) {
                    if (window.getAsJsonObject().get("tenant").getAsString().equals("holder")) {
                        return window.getAsJsonObject();
                    }
                }
            }
        }
        return new JsonObject();
    }

    private static long bytes(ManagerProcess manager, String name) {
        JsonObject window = window(manager);
        return window.has(name) ? window.get(name).getAsLong() : -1;
    }

    private static void command(TestRun run, String... arguments) {
        TesseraCommand.tessera(run, arguments).run().exits(0);
    }

    private static void parked(TestRun run, ManagerProcess manager) {
        Await.until("the executor has told of its client", Await.PATIENCE, () -> bytes(manager, "committedBytes") >= BYTES,
                () -> manager.control().status().toString());
        command(run, "park", "holder");
        Await.until("its memory is off the device", Await.PATIENCE, () -> bytes(manager, "awayBytes") >= BYTES, () -> window(manager).toString());
    }

    private static void awaitBack(ManagerProcess manager) {
        Await.until("its memory is back", Await.PATIENCE, () -> bytes(manager, "awayBytes") == 0, () -> window(manager).toString());
    }

    @Test
    void whoIsParkedComesBackWithItsNextCall(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "nvidia");
        RunningProgram program = holder(run, 7);
        parked(run, manager);
        assertEquals(BYTES, bytes(manager, "movedOutBytes"), () -> window(manager).toString());
        List<String> status = TesseraCommand.tessera(run, "status").run().exits(0).output();
        assertTrue(status.stream().anyMatch(line -> line.matches(" *WINDOW .* AWAY *")), status::toString);
        assertTrue(status.stream().anyMatch(line -> line.matches(" *0x[0-9a-f]+ +holder .* [0-9.]+ MiB *")), status::toString);
        program.okay("check 0 7");
        awaitBack(manager);
        parked(run, manager);
        assertEquals(BYTES, bytes(manager, "movedOutBytes"), "it has not changed, and the host has a copy");
        program.okay("check 0 7");
        program.okay("fill 0 9");
        program.okay("check 0 9");
        program.quit().exits(0);
    }

    @Test
    void whoIsWokenComesBackWithoutACall(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "nvidia");
        RunningProgram program = holder(run, 5);
        parked(run, manager);
        command(run, "wake", "holder");
        awaitBack(manager);
        program.okay("check 0 5");
        program.quit().exits(0);
    }

    @Test
    void whoIsKilledWhileItIsParkedLeavesNothingBehind(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "nvidia");
        RunningProgram program = holder(run, 3);
        parked(run, manager);
        program.kill();
        Await.until("its window is gone", Await.PATIENCE, () -> window(manager).isEmpty(), () -> manager.control().status().toString());
        RunningProgram next = holder(run, 4);
        next.okay("check 0 4");
        next.quit().exits(0);
    }

    /** A process in space sharing has no context that the driver could suspend. */
    @Test
    void suspensionIsRefusedWithWhatToDoInstead(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "nvidia");
        RunningProgram program = holder(run, 1);
        Await.until("the executor has told of its client", Await.PATIENCE, () -> bytes(manager, "committedBytes") >= BYTES,
                () -> manager.control().status().toString());
        JsonObject answer = manager.control().request("{\"request\":\"evict\",\"tenant\":\"holder\",\"suspend\":true}");
        assertEquals("tenant \"holder\" shares by space: its memory leaves the GPU, its process is not suspended; use tessera park without --suspend,"
                + " once it has memory on a GPU", answer.get("error").getAsString());
        program.quit().exits(0);
    }
}
