package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TesseraCommand;
import io.tessera.system.TestRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Memory that leaves the device without a copy: memory that is all zero, and memory whose contents the host already has. The
 * scripted driver runs the library's kernel that examines memory, and fills new memory with garbage.
 */
@ExtendWith(RunWatcher.class)
class UnchangedMemoryTest {
    private static final long MIB = 1L << 20;
    private static final long BYTES = 48 * MIB;
    /** Size of the parts that the library examines; a chunk on a device of 256 MiB has four. */
    private static final long PART = 2 * MIB;

    private static ManagerProcess manager(TestRun run) {
        return run.sharedManager("--capacity", "256MiB", "--executors", "none");
    }

    private static RunningProgram holder(TestRun run, int value) {
        RunningProgram program = run.program("console").plan("swap").tenant("holder").script("memory 256MiB").start();
        program.openDevice();
        assertEquals("0", program.okay("alloc " + BYTES));
        program.okay("fill 0 " + value);
        return program;
    }

    private static JsonObject memory(ManagerProcess manager, RunningProgram program) {
        return manager.control().clientDevice(program.pid()).getAsJsonObject("residency");
    }

    private static long bytes(ManagerProcess manager, RunningProgram program, String name) {
        return memory(manager, program).get(name).getAsLong();
    }

    private static void evict(ManagerProcess manager, RunningProgram program) {
        manager.control().okay("{\"request\":\"evict\",\"tenant\":\"holder\"}");
        Await.until("its memory is off the device", Await.PATIENCE, () -> {
            JsonObject memory = memory(manager, program);
            return memory.get("residentBytes").getAsLong() == 0 && memory.get("state").getAsString().equals("steady");
        }, () -> memory(manager, program).toString());
    }

    /** Waits until a program's backing is pinned: only pinned copies are kept. */
    private static void awaitPinned(ManagerProcess manager, RunningProgram program) {
        Await.until("the host has pinned memory for all of it", Await.PATIENCE,
                () -> bytes(manager, program, "pinnedBytes") >= BYTES, () -> memory(manager, program).toString());
    }

    /** Returns the text in a column of the only row. Heading and text end at the same position. */
    private static String cell(ProgramResult status, String column) {
        int head = 0;
        while (!status.output().get(head).matches(".*\\b" + column + "\\b.*")) {
            head++;
        }
        int end = status.output().get(head).indexOf(column) + column.length();
        String[] words = status.output().get(head + 1).substring(0, end).strip().split(" {2,}");
        return words[words.length - 1];
    }

    @Test
    void zeroMemoryLeavesAndComesBackWithoutACopy(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram program = holder(run, 0);
        evict(manager, program);
        JsonObject memory = memory(manager, program);
        assertEquals(BYTES, memory.get("zeroBytes").getAsLong(), memory::toString);
        assertEquals(0, memory.get("movedOutBytes").getAsLong(), memory::toString);
        assertEquals(0, memory.get("swappedBytes").getAsLong(), memory::toString);
        assertEquals(BYTES, memory.get("sparedBytes").getAsLong(), memory::toString);
        assertEquals("48.0 MiB", cell(TesseraCommand.tessera(run, "status").run().exits(0), "ZERO"));
        program.okay("check 0 0");
        assertEquals(0, bytes(manager, program, "movedInBytes"));
        program.quit().exits(0);
    }

    @Test
    void unchangedMemoryLeavesWithoutACopyTheSecondTime(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram program = holder(run, 7);
        awaitPinned(manager, program);
        evict(manager, program);
        assertEquals(BYTES, bytes(manager, program, "movedOutBytes"));
        program.okay("check 0 7");
        assertEquals(BYTES, bytes(manager, program, "movedInBytes"));
        assertEquals("48.0 MiB", cell(TesseraCommand.tessera(run, "status").run().exits(0), "CLEAN"));
        evict(manager, program);
        JsonObject memory = memory(manager, program);
        assertEquals(BYTES, memory.get("movedOutBytes").getAsLong(), memory::toString);
        assertEquals(BYTES, memory.get("sparedBytes").getAsLong(), memory::toString);
        assertEquals(0, memory.get("zeroBytes").getAsLong(), memory::toString);
        program.okay("check 0 7");
        program.quit().exits(0);
    }

    @Test
    void ofMemoryThatChangedOnlyThePartThatDidIsCopied(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram program = holder(run, 7);
        awaitPinned(manager, program);
        evict(manager, program);
        program.okay("copy"); // 4 KiB at its beginning
        program.okay("sync");
        evict(manager, program);
        assertEquals(BYTES + PART, bytes(manager, program, "movedOutBytes"));
        program.okay("fill 0 9");
        program.okay("check 0 9");
        evict(manager, program);
        assertEquals(2 * BYTES + PART, bytes(manager, program, "movedOutBytes"));
        program.okay("check 0 9");
        program.quit().exits(0);
    }
}
