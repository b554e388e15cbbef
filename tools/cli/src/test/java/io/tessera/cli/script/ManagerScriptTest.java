package io.tessera.cli.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.script.Kit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How a manager comes to be, is found, and ends. */
@Timeout(300)
class ManagerScriptTest {
    @TempDir
    private Path folder;
    private Kit kit;

    @BeforeEach
    void kit() throws IOException, InterruptedException {
        kit = new Kit(folder);
    }

    @AfterEach
    void end() throws IOException {
        kit.close();
    }

    /** Whether a process runs; one that has ended and was not collected yet does not. */
    private static boolean runs(long pid) {
        Path stat = Path.of("/proc/" + pid + "/stat");
        try {
            return !Files.readString(stat).replaceAll(".*\\) ", "").startsWith("Z");
        } catch (IOException e) {
            // No such file, or no such process any more while it is read.
            return false;
        }
    }

    @Test
    void runStartsAManagerOnce() throws Exception {
        assertEquals(new Result(0, "ran\n", ""), kit.tessera("run", "--", "echo", "ran"));
        assertEquals(1, kit.javaStarts());
        assertEquals(new Result(0, "again\n", ""), kit.tessera("run", "--", "echo", "again"));
        assertEquals(1, kit.javaStarts());
        assertTrue(runs(kit.managerPid()));
    }

    @Test
    void theManagersJavaIsStartedAsItShouldBe() throws Exception {
        kit.environment.put("LD_PRELOAD", kit.home.resolve("lib/libcuda.so.1").toString());
        kit.environment.put("JAVA_TOOL_OPTIONS", "-Dmine=1");
        assertEquals(0, kit.tessera("manager", "start", "--", "--capacity", "8 GiB").code());
        List<String> lines = Files.readAllLines(kit.log());
        assertEquals("-- SR=40 PRELOAD=", lines.getFirst());
        assertTrue(lines.containsAll(List.of("-XX:+UseSerialGC", "-Xmx64m", "-Xss512k", "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED", kit.home + "/app/*")), lines.toString());
        int main = lines.indexOf("io.tessera.manager.ManagerMain");
        assertEquals(List.of("--capacity", "8 GiB"), lines.subList(main + 1, lines.size()));
        assertFalse(Files.readString(kit.runtime.resolve("manager.log")).contains("Picked up"));
    }

    @Test
    void theManagerOutlivesTheTerminalAndHoldsNothingOfIt() throws Exception {
        kit.tessera("manager", "start");
        Path process = Path.of("/proc/" + kit.managerPid());
        assertEquals("/dev/null", Files.readSymbolicLink(process.resolve("fd/0")).toString());
        assertEquals(kit.runtime.resolve("manager.log").toRealPath(),
                Files.readSymbolicLink(process.resolve("fd/1")));
        assertEquals("/", Files.readSymbolicLink(process.resolve("cwd")).toString());
        // Field 6 of stat is the session; it leads its own.
        String[] stat = Files.readString(process.resolve("stat")).replaceAll(".*\\) ", "").split(" ");
        assertEquals(Long.toString(kit.managerPid()), stat[3]);
        try (var descriptors = Files.list(process.resolve("fd"))) {
            assertTrue(descriptors.noneMatch(fd -> {
                try {
                    return Files.readSymbolicLink(fd).endsWith("start.lock");
                } catch (IOException e) {
                    return false;
                }
            }));
        }
    }

    /** A program may wait for all of its children. */
    @Test
    void theManagerIsNoChildOfTheProgram() throws Exception {
        Result result = kit.tessera("run", "--", "/bin/sh", "-c",
                "read -r pid name state parent rest </proc/$(cat \"$TESSERA_RUNTIME_DIR/manager.pid\")/stat; echo $parent $$");
        String[] numbers = result.out().strip().split(" ");
        assertEquals(2, numbers.length, result.toString());
        assertFalse(numbers[0].equals(numbers[1]), result.out());
    }

    @Test
    void twoAtOnceMakeOneManager() throws Exception {
        List<Process> both = List.of(start(), start());
        for (Process process : both) {
            assertTrue(process.waitFor(Kit.PATIENCE_S, TimeUnit.SECONDS));
            assertEquals(0, process.exitValue());
        }
        assertEquals(1, kit.javaStarts());
    }

    private Process start() throws IOException {
        return kit.start(kit.builder(List.of(kit.scripts.resolve("tessera").toString(), "run", "--", "true")));
    }

    @Test
    void aPidFileOfADeadManagerIsNotBelieved() throws Exception {
        Process dead = kit.start(new ProcessBuilder("true"));
        assertTrue(dead.waitFor(Kit.PATIENCE_S, TimeUnit.SECONDS));
        Files.createFile(kit.runtime.resolve("manager.sock"));
        Files.writeString(kit.runtime.resolve("manager.pid"), dead.pid() + "\n");
        assertEquals(3, kit.tessera("manager", "status").code());
        assertEquals(0, kit.tessera("run", "--", "true").code());
        assertEquals(1, kit.javaStarts());
    }

    @Test
    void aPidThatWasGivenToSomebodyElseIsNotBelieved() throws Exception {
        Process other = kit.start(new ProcessBuilder("/bin/sleep", "60"));
        kit.pretendManager(other.pid());
        assertEquals(3, kit.tessera("manager", "status").code());
        Result stop = kit.tessera("manager", "stop");
        assertEquals(3, stop.code());
        assertTrue(other.isAlive());
    }

    /** The number of a manager that was killed may come again, also for a process of Tessera's: only a manager has the file open. */
    @Test
    void aPidThatWasGivenToAnotherProcessOfTesserasIsNotBelieved() throws Exception {
        Process other = kit.start(kit.sleeper());
        kit.pretendManager(other.pid());
        assertEquals(3, kit.tessera("manager", "status").code());
        assertEquals(3, kit.tessera("manager", "stop").code());
        assertTrue(other.isAlive());
    }

    @Test
    void stopTakesNoAnswerWithoutAQuestion() throws Exception {
        assertEquals(2, kit.tessera("manager", "stop", "--yes").code());
        assertEquals(2, kit.tessera("manager", "stop", "--programs", "--now").code());
    }

    @Test
    void rubbishInThePidFileIsNoManager() throws Exception {
        kit.pretendManager();
        for (String text : List.of("", "\n", "12x\n", "-1\n", "../self\n", "1 2\n")) {
            Files.writeString(kit.runtime.resolve("manager.pid"), text);
            assertEquals(3, kit.tessera("manager", "status").code(), text);
        }
    }

    @Test
    void aManagerThatDoesNotComeUpIsExplained() throws Exception {
        kit.java(kit.home.resolve("jre"), "25.0.1", "echo 'no memory for me'; exit 7\n");
        Result result = kit.tessera("run", "--", "echo", "ran");
        assertEquals(3, result.code());
        assertEquals("", result.out());
        assertTrue(result.err().contains("exit code 7"), result.err());
        assertTrue(result.err().contains("no memory for me"), result.err());
        assertEquals(new Result(0, "ran\n", ""), kit.tessera("run", "--no-manager", "--", "echo", "ran"));
    }

    @Test
    void aManagerThatFindsAnotherStartingIsNoFailure() throws Exception {
        // The other one takes the lock before it has a socket; ours ends with 3 meanwhile.
        kit.java(kit.home.resolve("jre"), "25.0.1", "exit 3\n");
        Process run = start();
        while (!Files.exists(kit.runtime.resolve("manager.failed.log"))) {
            Thread.sleep(10);
        }
        Thread.sleep(200);
        assertTrue(run.isAlive());
        kit.pretendManager();
        assertTrue(run.waitFor(Kit.PATIENCE_S, TimeUnit.SECONDS));
        assertEquals(0, run.exitValue());
    }

    /** The manager was killed; its watcher starts another one while a program does so, too. */
    @Test
    void theLogOfAManagerThatRunsIsNotReplacedByThatOfAnotherStart() throws Exception {
        kit.java(kit.home.resolve("jre"), "25.0.1", "echo 'a manager already runs'; sleep 2; exit 3\n");
        Files.writeString(kit.runtime.resolve("manager.log"), "of the one that runs\n");
        Process run = start();
        while (!Files.exists(kit.runtime.resolve("manager.failed.log")) || Files.size(kit.runtime.resolve("manager.failed.log")) == 0) {
            Thread.sleep(10);
        }
        kit.pretendManager();
        assertTrue(run.waitFor(Kit.PATIENCE_S, TimeUnit.SECONDS));
        assertEquals(0, run.exitValue());
        assertEquals("of the one that runs\n", Files.readString(kit.runtime.resolve("manager.log")));
        assertEquals(List.of("manager.log"), logs());
    }

    @Test
    void startStatusRestartStopAndTheLogs() throws Exception {
        assertEquals(3, kit.tessera("manager", "status").code());
        assertEquals(3, kit.tessera("manager", "stop").code());
        Result started = kit.tessera("manager", "start");
        long first = kit.managerPid();
        assertEquals(new Result(0, "manager started: pid " + first + ", " + kit.runtime + "\n", ""), started);
        assertTrue(kit.tessera("manager", "start").err().contains("runs already"));
        assertEquals("manager runs: pid " + first + ", " + kit.runtime + "\n", kit.tessera("manager", "status").out());
        assertEquals("fake manager in " + kit.runtime + "\n", kit.tessera("manager", "logs").out());
        assertEquals(0, kit.tessera("manager", "restart").code());
        assertTrue(kit.managerPid() != first);
        assertFalse(runs(first));
        assertTrue(Files.exists(kit.runtime.resolve("manager.log.1")));
        long second = kit.managerPid();
        assertEquals("manager stopped: pid " + second + "\n", kit.tessera("manager", "stop").out());
        assertFalse(runs(second));
    }

    private static void signal(String name, long pid) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor());
    }

    /** Waits for another manager than this one. */
    private long nextManager(long before) throws Exception {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(Kit.PATIENCE_S);
        while (kit.tessera("manager", "status").code() != 0 || kit.managerPid() == before) {
            assertTrue(System.nanoTime() < until, "no other manager");
            Thread.sleep(50);
        }
        return kit.managerPid();
    }

    /** With its options and directories; also for the second time at once. Nobody is child of a program, or has its library. */
    @Test
    void aManagerThatWasKilledIsStartedAgain() throws Exception {
        kit.environment.put("LD_PRELOAD", kit.home.resolve("lib/libcuda.so.1").toString());
        assertEquals(0, kit.tessera("manager", "start", "--", "--capacity", "8 GiB").code());
        long pid = kit.managerPid();
        ProcessHandle watcher = ProcessHandle.of(pid).orElseThrow().parent().orElseThrow();
        for (int kills = 1; kills <= 2; kills++) {
            signal("KILL", pid);
            pid = nextManager(pid);
            assertEquals(watcher, ProcessHandle.of(pid).orElseThrow().parent().orElseThrow());
            List<String> lines = Files.readAllLines(kit.log());
            assertEquals(kills + 1, lines.stream().filter("-- SR=40 PRELOAD="::equals).count(), lines.toString());
            assertEquals(List.of("--capacity", "8 GiB"), lines.subList(lines.size() - 2, lines.size()));
        }
        assertFalse(Files.readString(Path.of("/proc/" + watcher.pid() + "/maps")).contains("libcuda"));
        assertTrue(Files.readString(kit.runtime.resolve("manager.log")).contains("ended by signal 9: another one is started"));
        assertEquals(0, kit.tessera("manager", "stop").code());
        watcher.onExit().get(Kit.PATIENCE_S, TimeUnit.SECONDS);
        assertEquals(3, kit.javaStarts());
        assertEquals(3, kit.tessera("manager", "status").code());
    }

    /** Not one without its options, which a program that starts at that moment would begin. */
    @Test
    void whoComesAfterAManagerThatWasKilledGetsTheOneWithItsOptions() throws Exception {
        assertEquals(0, kit.tessera("manager", "start", "--", "--capacity", "8 GiB").code());
        ProcessHandle watcher = ProcessHandle.of(kit.managerPid()).orElseThrow().parent().orElseThrow();
        for (int kills = 1; kills <= 3; kills++) {
            kill(kit.managerPid());
            assertEquals(0, kit.tessera("run", "--", "true").code());
            assertEquals(watcher, ProcessHandle.of(kit.managerPid()).orElseThrow().parent().orElseThrow());
            assertEquals(kills + 1, kit.javaStarts());
        }
        kill(watcher.pid());
        kill(kit.managerPid());
        assertEquals(0, kit.tessera("run", "--", "true").code(), "nobody watches any more");
        assertEquals(5, kit.javaStarts());
        assertEquals(0, kit.tessera("manager", "stop").code());
    }

    private void kill(long pid) throws Exception {
        ProcessHandle process = ProcessHandle.of(pid).orElseThrow();
        signal("KILL", pid);
        process.onExit().get(Kit.PATIENCE_S, TimeUnit.SECONDS);
    }

    /** Its directory was removed, or it was stopped while it was dead. */
    @Test
    void aManagerIsNotStartedAgainWhereNobodyWantsOne() throws Exception {
        for (boolean removed : new boolean[] {true, false}) {
            assertEquals(0, kit.tessera("manager", "start").code());
            long pid = kit.managerPid();
            ProcessHandle watcher = ProcessHandle.of(pid).orElseThrow().parent().orElseThrow();
            long starts = kit.javaStarts();
            signal("STOP", watcher.pid());
            ManagerTroubleScriptTest.awaitState(watcher.pid(), "T");
            signal("KILL", pid);
            ManagerTroubleScriptTest.awaitState(pid, "Z"); // its parent is stopped
            if (removed) {
                Files.delete(kit.runtime.resolve("manager.sock"));
            } else {
                assertEquals(3, kit.tessera("manager", "stop").code());
            }
            signal("CONT", watcher.pid());
            watcher.onExit().get(Kit.PATIENCE_S, TimeUnit.SECONDS);
            assertEquals(starts, kit.javaStarts());
        }
    }

    @Test
    void oldLogsAreKeptUpToThree() throws Exception {
        for (int i = 0; i < 5; i++) {
            assertEquals(0, kit.tessera("manager", "restart").code());
        }
        assertEquals(List.of("manager.log", "manager.log.1", "manager.log.2", "manager.log.3"), logs());
    }

    private List<String> logs() throws IOException {
        try (var files = Files.list(kit.runtime)) {
            return files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".log") || name.contains(".log.")).sorted().toList();
        }
    }

    @Test
    void aStartThatFailsLeavesTheLogsThatThereAre() throws Exception {
        assertEquals(0, kit.tessera("manager", "start").code());
        assertEquals(0, kit.tessera("manager", "stop").code());
        String before = Files.readString(kit.runtime.resolve("manager.log"));
        kit.java(kit.home.resolve("jre"), "25.0.1", "echo start $$; exit 1\n");
        assertEquals(3, kit.tessera("manager", "start").code());
        assertEquals(before, Files.readString(kit.runtime.resolve("manager.log")));
        assertEquals(List.of("manager.failed.log", "manager.log"), logs());
    }

    @Test
    void whatOnlyAsksEndsNoManager() throws Exception {
        assertEquals(0, kit.tessera("manager", "start").code());
        long pid = kit.managerPid();
        for (String verb : List.of("start", "stop", "restart", "status", "logs")) {
            Result help = kit.tessera("manager", verb, "--help");
            assertEquals(0, help.code(), verb);
            assertTrue(help.out().startsWith("Usage: tessera manager"), verb + ": " + help.out());
        }
        assertEquals(2, kit.tessera("manager", "stop", "--now").code());
        assertEquals(2, kit.tessera("manager", "restart", "--now").code());
        assertEquals(2, kit.tessera("manager", "status", "all").code());
        Result wrong = kit.tessera("manager", "restart", "--", "--wrong");
        assertEquals(2, wrong.code());
        assertTrue(wrong.err().contains("no option --wrong"), wrong.err());
        Result options = kit.tessera("manager", "start", "--", "--capacity", "8GiB");
        assertEquals(1, options.code());
        assertTrue(options.err().contains("tessera manager restart -- --capacity 8GiB"), options.err());
        assertEquals(pid, kit.managerPid());
        assertTrue(runs(pid));
        assertEquals(0, kit.tessera("manager", "restart", "--", "--capacity", "8GiB").code());
        assertTrue(kit.managerPid() != pid);
    }

    @Test
    void aWrongOptionOfTheManagerIsWrongUsage() throws Exception {
        Result result = kit.tessera("manager", "start", "--", "--wrong");
        assertEquals(2, result.code());
        assertTrue(result.err().contains("no option --wrong"), result.err());
    }

    @Test
    void aRuntimeDirectoryThatOthersCanWriteToIsRefused() throws Exception {
        Files.setPosixFilePermissions(kit.runtime, PosixFilePermissions.fromString("rwxrwxrwx"));
        Result result = kit.tessera("run", "--", "true");
        assertEquals(3, result.code());
        assertTrue(result.err().contains("others can write"), result.err());
        Files.setPosixFilePermissions(kit.runtime, PosixFilePermissions.fromString("rwx------"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), kit.runtime);
        kit.environment.put("TESSERA_RUNTIME_DIR", link.toString());
        assertTrue(kit.tessera("run", "--", "true").err().contains("is a link"));
        assertEquals(0, kit.javaStarts());
    }

    @Test
    void aMissingRuntimeDirectoryIsMadePrivate() throws Exception {
        Path fresh = folder.resolve("fresh/tessera");
        kit.environment.put("TESSERA_RUNTIME_DIR", fresh.toString());
        kit.java(kit.home.resolve("jre"), "25.0.1", "exit 1\n");
        assertEquals(3, kit.tessera("manager", "start").code());
        String modes = PosixFilePermissions.toString(Files.getPosixFilePermissions(fresh));
        assertTrue(List.of("rwx------", "rwx--x--x").contains(modes), modes);
    }

    @Test
    void theForegroundIsTheManagerItself() throws Exception {
        Process process = kit.start(kit.builder(List.of(kit.scripts.resolve("tessera").toString(), "manager", "start",
                "--foreground")).redirectErrorStream(true));
        try (var lines = process.inputReader()) {
            assertEquals("fake manager in " + kit.runtime, lines.readLine());
        }
        process.destroy();
        assertTrue(process.waitFor(Kit.PATIENCE_S, TimeUnit.SECONDS));
        assertEquals(143, process.exitValue());
    }

    @Test
    void wrongUsage() throws Exception {
        for (String[] command : new String[][] {{"manager"}, {"manager", "fly"}, {"manager", "start", "--fast"},
                {"manager", "logs", "--all"}}) {
            assertEquals(2, kit.tessera(command).code(), String.join(" ", command));
        }
    }
}
