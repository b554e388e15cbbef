package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.system.Await;
import io.tessera.system.DriverCallCounts;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Physical memory that clients of one user hand each other (SPEC.md, section 9.8), with real programs and a real manager. */
@ExtendWith(RunWatcher.class)
class MemoryExchangeTest {
    private static final long MIB = 1L << 20;
    /** Number of pieces of 2 MiB, which is the size of pieces on a device of 32 MiB. */
    private static final int PIECES = 12;
    private static final String SCRIPT = "memory 32MiB";
    private static final Duration PATIENCE = Await.PATIENCE;

    private static ManagerProcess manager(TestRun run) {
        return run.manager("--capacity", "32MiB", "--executors", "none", "--move-share", "50%");
    }

    private static RunningProgram notebook(TestRun run, String script, int mark) {
        RunningProgram program = run.program("console").plan("swap").tenant("n" + mark).script(script).start();
        program.openDevice();
        assertEquals("0", program.okay("alloc " + PIECES * 2 * MIB));
        program.okay("fill 0 " + mark);
        return program;
    }

    /** Makes a program work; it checks every word of its memory. */
    private static void work(RunningProgram notebook, int mark) {
        notebook.okay("launch 1000 2");
        notebook.okay("sync");
        notebook.okay("check 0 " + mark);
    }

    private static long handed(TestRun run) {
        return DriverCallCounts.of("cuMemImportFromShareableHandle", run);
    }

    private static int descriptors(RunningProgram program) {
        return Integer.parseInt(program.okay("descriptors"));
    }

    @Test
    void whatOneGivesUpTheNextTakesAndFindsItsOwnContentsIn(TestRun run) {
        manager(run);
        List<RunningProgram> notebooks = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            notebooks.add(notebook(run, SCRIPT, i + 1));
        }
        for (int round = 0; round < 3; round++) { // memory from before they knew each other goes through the driver
            for (int i = 0; i < 3; i++) {
                work(notebooks.get(i), i + 1);
            }
        }
        long created = DriverCallCounts.of("cuMemCreate", run);
        long handed = handed(run);
        int before = descriptors(notebooks.getFirst());
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 3; i++) {
                work(notebooks.get(i), i + 1);
            }
        }
        long createdMeanwhile = DriverCallCounts.of("cuMemCreate", run) - created;
        long handedMeanwhile = handed(run) - handed;
        assertTrue(handedMeanwhile > 5 * 3 * PIECES / 2, handedMeanwhile + " were handed on, " + createdMeanwhile + " made");
        assertTrue(createdMeanwhile < handedMeanwhile / 2, createdMeanwhile + " were made, " + handedMeanwhile + " handed on");
        assertTrue(descriptors(notebooks.getFirst()) <= before + PIECES + 2, "descriptors of memory that is gone stay open");
        notebooks.removeLast().kill();
        for (int i = 0; i < 2; i++) {
            work(notebooks.get(i), i + 1);
        }
        notebooks.forEach(notebook -> notebook.quit().exits(0));
    }

    /** The workers of a DataLoader live as long as a training, and must not keep memory that their parent gives up. */
    @Test
    void aChildOfAForkKeepsNone(TestRun run) {
        manager(run);
        RunningProgram first = notebook(run, SCRIPT, 1);
        RunningProgram second = notebook(run, SCRIPT, 2);
        for (int round = 0; round < 4; round++) {
            work(first, 1);
            work(second, 2);
        }
        int own = descriptors(second);
        int childs = Integer.parseInt(second.okay("child"));
        assertTrue(childs <= own - PIECES / 2, "the parent has " + own + " open, its child " + childs);
        work(first, 1);
        work(second, 2);
        second.quit().exits(0);
        first.quit().exits(0);
    }

    /** The driver does not export imported memory. So others open such memory by the file descriptor by which it was imported. */
    @Test
    void handedMemoryIsExportedLikeAnyOther(TestRun run) {
        manager(run);
        RunningProgram first = notebook(run, SCRIPT, 1);
        RunningProgram second = notebook(run, SCRIPT, 2);
        for (int round = 0; round < 4; round++) {
            work(second, 2);
            work(first, 1);
        }
        second.quit().exits(0);
        RunningProgram opener = run.program("console").plan("plain").tenant("opener").script(SCRIPT).start();
        opener.openDevice();
        assertEquals("0", opener.okay("open " + first.okay("handle 0")));
        opener.okay("check 0 1");
        first.okay("fill 0 9");
        first.okay("check 0 9");
        opener.okay("check 0 9");
        opener.quit().exits(0);
        first.quit().exits(0);
    }

    /** Whatever the driver refuses, memory then comes from the driver as usual, and contents stay the same. */
    @ParameterizedTest
    @ValueSource(strings = {"fail cuMemImportFromShareableHandle 999 from 5", "fail cuMemImportFromShareableHandle 1 at 3",
            "fail cuMemExportToShareableHandle 1 from 9", "fail cuMemMap 2 at 32", "fail cuMemSetAccess 1 at 34",
            "fail cuMemRelease 999 at 26", "fail cuMemRelease 999 at 28", "fail cuMemCreate 2 at 26", "fail cuMemCreate 801 at 26"})
    void whatCannotBeHandedOnComesFromTheDriver(String fault, TestRun run) {
        if (fault.contains("cuMemRelease")) {
            run.expectClientError("physical memory could not be taken away");
            run.expectLine("physical memory could not be taken away");
        }
        if (fault.contains("cuMemSetAccess")) { // depending on the order of calls, the fault may hit a move back to the device
            run.expectClientError("memory could not be brought back to the device");
            run.expectLine("memory could not be brought back to the device");
        }
        manager(run);
        RunningProgram first = notebook(run, SCRIPT + "; " + fault, 1);
        RunningProgram second = notebook(run, SCRIPT + "; " + fault, 2);
        for (int round = 0; round < 6; round++) {
            work(first, 1);
            work(second, 2);
        }
        assertTrue(handed(run) > 0);
        first.quit().exits(0);
        second.quit().exits(0);
    }

    /** The driver answers DEINITIALIZED to the library's own threads, which may still move memory while the process ends. */
    @Test
    void aDriverThatShutsDownIsNoError(TestRun run) {
        manager(run);
        String fault = "; fail cuMemcpyHtoDAsync_v2 4 at 3; fail cuMemUnmap 4 at 9"; // a chunk that was being filled is emptied again
        RunningProgram first = notebook(run, SCRIPT + fault, 1);
        RunningProgram second = notebook(run, SCRIPT + fault, 2);
        for (int round = 0; round < 6; round++) {
            work(first, 1);
            work(second, 2);
        }
        first.quit().exits(0);
        second.quit().exits(0);
    }

    /** The queue belongs to the manager: without a manager, memory goes to the driver; with the next one, it is handed over again. */
    @Test
    void aNewManagerMakesNewQueues(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram first = notebook(run, SCRIPT, 1);
        RunningProgram second = notebook(run, SCRIPT, 2);
        for (int round = 0; round < 3; round++) {
            work(first, 1);
            work(second, 2);
        }
        run.expectLine("running without turns until it is back");
        run.expectClientError("manager");
        manager.kill();
        ManagerProcess next = manager(run);
        Await.until("both are registered again", PATIENCE,
                () -> List.of(first, second).stream()
                        .allMatch(program -> next.control().clients().stream().anyMatch(client -> client.get("pid").getAsLong() == program.pid()
                                && !client.get("devices").getAsJsonArray().isEmpty())));
        long handed = handed(run);
        Await.until("memory is handed on again", PATIENCE, () -> {
            work(first, 1);
            work(second, 2);
            return handed(run) > handed + 4 * PIECES;
        }, () -> handed(run) - handed + " pieces");
        first.quit().exits(0);
        second.quit().exits(0);
    }
}
