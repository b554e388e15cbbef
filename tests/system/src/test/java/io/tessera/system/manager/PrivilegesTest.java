package io.tessera.system.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tessera.system.Await;
import io.tessera.system.RunWatcher;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Privileges of the processes that read programs' code, if a manager of root starts them. */
@ExtendWith(RunWatcher.class)
class PrivilegesTest {
    @BeforeEach
    void isRoot() throws IOException {
        assumeTrue((Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0, "only root's manager runs executors as somebody else");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "no setpriv here");
    }

    /** Returns the value of a field in a process's {@code status} file. */
    private static String status(long pid, String name) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream().filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).strip()).findFirst().orElseThrow();
    }

    private static long executor(TestRun run) throws IOException {
        return Long.parseLong(Files.readString(run.runtimeDirectory().resolve("executors/executor-0.pid")).strip());
    }

    @Test
    void executorsAndWorkersAreAUserWithoutRights(TestRun run) throws IOException {
        run.manager(ManagerProcess.AS_USERS, "--executors", "software", "--software-memory", "256MiB");
        RunningProgram program = run.program("relay_lost").env("TESSERA_SHARE", "space").start().awaitLine("ready");
        long executor = executor(run);
        Await.until("a worker runs", Await.PATIENCE, () -> ProcessHandle.of(executor).orElseThrow().descendants().findAny().isPresent());
        for (long pid : ProcessHandle.of(executor).orElseThrow().descendants().map(ProcessHandle::pid).toList()) {
            isWithoutRights(pid);
        }
        isWithoutRights(executor);
        program.process().destroyForcibly();
        program.end();
    }

    private static void isWithoutRights(long pid) throws IOException {
        for (String uid : status(pid, "Uid").split("\\s+")) {
            assertNotEquals("0", uid);
            assertNotEquals("65534", uid, "others' processes are nobody's, too");
        }
        assertEquals("0000000000000000", status(pid, "CapEff"));
        assertEquals("0000000000000000", status(pid, "CapBnd"));
        assertEquals("1", status(pid, "NoNewPrivs"));
        assertEquals("", status(pid, "Groups"));
    }

    @Test
    void anOperatorMayHaveThemRunAsRoot(TestRun run) throws IOException {
        run.manager("--executors", "software", "--software-memory", "256MiB", "--executor-user", "root");
        RunningProgram program = run.program("relay_lost").env("TESSERA_SHARE", "space").start().awaitLine("ready");
        assertEquals("0", status(executor(run), "Uid").split("\\s+")[0]);
        program.process().destroyForcibly();
        program.end();
    }
}
