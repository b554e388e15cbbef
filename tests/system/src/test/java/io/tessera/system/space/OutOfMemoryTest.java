package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.tessera.os.memory.ControlGroupMemory;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A container without memory left: the kernel ends the process that takes the memory, or those that can be started again, but not an executor with
 * its programs.
 */
@ExtendWith(RunWatcher.class)
class OutOfMemoryTest {
    private static final long MOST_BYTES = 1L << 30;
    private static final int KILLED = 128 + 9;
    /** The folder of the memory controller: for version 1 of cgroups, then for version 2. */
    private static final Path FIRST = Path.of("/sys/fs/cgroup/memory");
    private static final Path SECOND = Path.of("/sys/fs/cgroup");

    private Path group;

    @BeforeEach
    void limit() throws IOException {
        boolean first = Files.isDirectory(FIRST);
        group = (first ? FIRST : SECOND).resolve("tessera-test-" + ProcessHandle.current().pid());
        try {
            Files.createDirectory(group);
            Files.writeString(group.resolve(first ? "memory.limit_in_bytes" : "memory.max"), Long.toString(MOST_BYTES));
            if (!first) {
                Files.writeString(group.resolve("memory.swap.max"), "0");
            }
        } catch (IOException e) {
            abort("no memory of a group of processes can be limited here: " + e);
        }
    }

    /** Removes the group. It must be empty, so processes that end later, such as manager and executor, are moved out first. */
    @AfterEach
    void remove() throws IOException {
        if (!Files.exists(group)) {
            return;
        }
        for (String pid : Files.readAllLines(members())) {
            try {
                Files.writeString(group.resolveSibling("cgroup.procs"), pid);
            } catch (IOException e) {
                continue; // it has ended
            }
        }
        Files.delete(group);
    }

    private Path members() {
        return group.resolve("cgroup.procs");
    }

    @Test
    void anExecutorOutlivesWhoTakesAllMemory(TestRun run) throws Exception {
        ManagerProcess manager = run.manager("--executors", "nvidia");
        Files.writeString(members(), Long.toString(manager.process().pid()));
        run.expectClientError("");
        run.expectLine("");
        RunningProgram loads = run.program("relay_code", "ordinary", "1").env("TESSERA_SHARE", "space").tenant("loads").start().awaitLine("ready");
        Path pidFile = run.runtimeDirectory().resolve("executors/executor-0.pid");
        String executor = Files.readString(pidFile).strip();
        assertTrue(Files.readAllLines(members()).contains(executor), "the executor is in its manager's group");

        Process greedy = new ProcessBuilder("/bin/sh", "-c", "echo $$ >\"$0\" && exec tail /dev/zero", members().toString())
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        assertTrue(greedy.waitFor(60, TimeUnit.SECONDS), "nobody ends the process that takes all memory");
        assertEquals(KILLED, greedy.exitValue());

        assertTrue(ProcessHandle.of(Long.parseLong(executor)).isPresent(), "the executor was ended");
        loads.tell("");
        ProgramResult result = loads.end(Duration.ofSeconds(100)).exits(0);
        assertTrue(result.output().getLast().matches("right [1-9]\\d* [01]"), result::toString);
        assertEquals(executor, Files.readString(pidFile).strip());
    }

    /** The manager bounds others' host memory by the limit of its own container. */
    @Test
    void aManagerInAContainerCountsWithTheContainersMemory(TestRun run) throws Exception {
        String own = ControlGroupMemory.ofThisProcess().group();
        assumeFalse(own.isEmpty(), "the group of this process cannot be seen");
        String self = Long.toString(ProcessHandle.current().pid());
        ManagerProcess manager;
        Files.writeString(members(), self); // so that the manager starts in the group
        try {
            manager = run.manager("--capacity", "64MiB", "--executors", "none");
        } finally {
            Files.writeString(Path.of(own).resolve("cgroup.procs"), self);
        }
        RunningProgram swaps = run.program("worker", "ms=0", "told=1").plan("swap").script("memory 64MiB").start().awaitLine("ready");
        Await.until("the host's memory is shared out", Await.PATIENCE, () -> manager.control().status().has("host"));
        long budget = manager.control().status().getAsJsonObject("host").get("pinnedBudgetBytes").getAsLong();
        assertEquals(MOST_BYTES / 2, budget);
        swaps.tell("");
        swaps.end().exits(0);
    }
}
