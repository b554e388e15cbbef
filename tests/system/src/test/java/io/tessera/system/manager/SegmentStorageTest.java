package io.tessera.system.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** If there is no room for a segment, the client gets a line and runs natively; it never gets a SIGBUS. */
@ExtendWith(RunWatcher.class)
class SegmentStorageTest {
    /** Needs the right to mount; elsewhere it is skipped, and the report says so. */
    @Test
    void fullSharedMemoryIsAnAnswer(TestRun run) throws Exception {
        Path small = Files.createDirectory(run.directory().resolve("small"));
        Assumptions.assumeTrue(call("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small.toString()) == 0,
                "a tmpfs cannot be mounted here: full shared memory is not tested");
        try {
            run.expectLog("segment|space");
            run.expectLine("refused");
            ManagerProcess manager = run.manager("--shm-directory", small.resolve("segments").toString());
            for (int i = 0; i < 3; i++) {
                ProgramResult result = run.program("linked").run().exits(0).says("roundtrip");
                assertEquals(1, result.libraryLines().size(), result::toString);
                assertTrue(result.libraryLines().getFirst().contains("refused"), result::toString);
            }
            assertTrue(manager.control().clients().isEmpty());
            try (var files = Files.list(small.resolve("segments"))) {
                assertEquals(0, files.count(), "a half-made segment was left behind");
            }
            assertEquals(0, manager.stop());
        } finally {
            assertEquals(0, call("umount", small.toString()));
        }
    }

    private static int call(String... command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return 127; // no such command
        }
        process.getInputStream().readAllBytes();
        return process.waitFor(10, TimeUnit.SECONDS) ? process.exitValue() : 124;
    }
}
