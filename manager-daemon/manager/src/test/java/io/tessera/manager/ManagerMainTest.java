package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.client.ControlQuery;
import io.tessera.manager.client.TestClient;
import io.tessera.protocol.RuntimeDirectory;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The manager as a process: its output line, signals, exit codes. */
@Timeout(300)
class ManagerMainTest {
    private static final Map<String, String> LAUNCHER = Map.of("_JAVA_SR_SIGNUM", "40");

    @TempDir
    Path folder;
    private RuntimeDirectory paths;
    private Path errors;
    private final List<Process> started = new ArrayList<>();

    @BeforeEach
    void name() {
        paths = new RuntimeDirectory(folder.resolve("run"), folder.resolve("shm"));
        errors = folder.resolve("stderr");
    }

    @AfterEach
    void endWhatRuns() throws Exception {
        for (Process process : started) {
            process.destroyForcibly();
            assertTrue(process.waitFor(10, TimeUnit.SECONDS));
        }
    }

    private Process launch(Map<String, String> environment, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-Xmx64m", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), "io.tessera.manager.ManagerMain"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TESSERA_") || name.startsWith("_JAVA_SR"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        started.add(process);
        return process;
    }

    private Process launchHere(Map<String, String> environment) throws Exception {
        Process process = launch(environment, "--runtime-directory", paths.path().toString(), "--shm-directory="
                + paths.shmDirectory());
        BufferedReader output = process.inputReader();
        assertEquals("tessera-manager ready pid=" + process.pid() + " socket=" + paths.registrationSocket(),
                output.readLine(), this::log);
        return process;
    }

    private String log() {
        try {
            return Files.readString(errors);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static int exitOf(Process process) throws Exception {
        assertTrue(process.waitFor(30, TimeUnit.SECONDS), "30 s are not enough to end");
        return process.exitValue();
    }

    private static void signal(String name, Process process) throws Exception {
        assertEquals(0, exitOf(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start()));
    }

    private void awaitMode(String mode) throws Exception {
        long deadlineNs = System.nanoTime() + 60_000_000_000L;
        String status;
        do {
            assertTrue(System.nanoTime() < deadlineNs, "mode " + mode + " is not reached");
            status = ControlQuery.ask(paths.controlSocket(), "{\"request\":\"status\"}");
        } while (!status.contains("\"mode\":\"" + mode + "\""));
    }

    @Test
    void signalsSwitchTheModeAndEndTheManager() throws Exception {
        Process manager = launchHere(LAUNCHER);
        try (TestClient client = TestClient.onDevice(paths.registrationSocket(), "a")) {
            awaitMode("auto");
            signal("USR1", manager);
            awaitMode("on");
            signal("USR2", manager);
            awaitMode("off");
            for (int i = 0; i < 3; i++) {
                signal("USR1", manager);
                awaitMode("on");
                signal("USR2", manager);
                awaitMode("off");
            }
            signal("TERM", manager);
            client.await("the end of the connection", client::isEnded);
        }
        assertEquals(0, exitOf(manager), log());
        assertFalse(Files.exists(paths.registrationSocket()));
        assertFalse(Files.exists(paths.controlSocket()));
        assertFalse(Files.exists(paths.pidFile()));
        assertEquals(0, Files.list(paths.shmDirectory()).count());
        assertFalse(log().contains("SIG"), log());
    }

    @Test
    void interruptAndStopEndItToo() throws Exception {
        Process first = launchHere(LAUNCHER);
        signal("INT", first);
        assertEquals(0, exitOf(first), log());
        Process second = launchHere(LAUNCHER);
        assertEquals("{\"ok\":true}", ControlQuery.ask(paths.controlSocket(), "{\"request\":\"stop\"}"));
        assertEquals(0, exitOf(second), log());
    }

    @Test
    void afterKill9TheNextManagerTakesOver() throws Exception {
        Process first = launchHere(LAUNCHER);
        try (TestClient client = TestClient.onDevice(paths.registrationSocket(), "a")) {
            Process refused = launch(LAUNCHER, "--runtime-directory", paths.path().toString());
            assertEquals(ManagerMain.EXIT_RUNNING, exitOf(refused));
            assertTrue(log().contains("a manager (pid " + first.pid() + ") already runs in " + paths.path()), log());
            first.destroyForcibly();
            client.await("the end of the connection", client::isEnded);
            assertTrue(Files.exists(paths.segment(1)));
        }
        exitOf(first);
        launchHere(LAUNCHER);
        assertFalse(Files.exists(paths.segment(1)), "left by the first manager");
    }

    @Test
    void withoutTheLaunchersVariableTheLogSaysWhatIsMissing() throws Exception {
        Process manager = launchHere(Map.of());
        long deadlineNs = System.nanoTime() + 60_000_000_000L;
        while (!log().contains("SIGUSR2 was taken from the JVM") && System.nanoTime() < deadlineNs) {
            Thread.sleep(10);
        }
        assertTrue(log().contains("_JAVA_SR_SIGNUM=40"), log());
        try (TestClient client = TestClient.onDevice(paths.registrationSocket(), "a")) {
            signal("USR2", manager);
            awaitMode("off");
            assertFalse(client.isEnded());
        }
        signal("TERM", manager);
        assertEquals(0, exitOf(manager), log());
    }

    @Test
    void namesOfTenantsCannotForgeLinesOfTheLog() throws Exception {
        Process manager = launchHere(Map.of("_JAVA_SR_SIGNUM", "40", "JDK_JAVA_OPTIONS", "-Dorg.slf4j.simpleLogger.defaultLogLevel=info"));
        try (TestClient client = TestClient.onDevice(paths.registrationSocket(), "eve\nforged\u001b[2J")) {
            String answer = ControlQuery.ask(paths.controlSocket(),
                    "{\"request\":\"tenant\",\"tenant\":\"bob\\nforged\",\"set\":{\"weight\":4},\"ahead\":true}");
            assertTrue(answer.startsWith("{\"ok\":true"), answer);
            assertFalse(client.isEnded());
        }
        signal("TERM", manager);
        assertEquals(0, exitOf(manager), log());
        assertTrue(log().contains("tenant \"eve?forged?[2J\""), log());
        assertTrue(log().contains("tenant \"bob?forged\" has "), log());
        assertFalse(log().contains("\u001b") || log().contains("\nforged"), log());
    }

    @Test
    void wrongOptionsAndUnusableDirectoriesHaveTheirExitCodes() throws Exception {
        assertEquals(ManagerMain.EXIT_USAGE, exitOf(launch(LAUNCHER, "--speed", "9")));
        assertEquals("tessera-manager: there is no option --speed; --help lists them\n", log());
        assertEquals(ManagerMain.EXIT_USAGE, exitOf(launch(Map.of("TESSERA_QUANTUM", "fast"))));
        assertEquals("tessera-manager: --quantum (TESSERA_QUANTUM): \"fast\" is not a duration: a number with ns, us, "
                + "ms, s or min\n", log());
        assertEquals(ManagerMain.EXIT_UNUSABLE, exitOf(launch(LAUNCHER, "--runtime-directory", "/proc/none/here",
                "--shm-directory", paths.shmDirectory().toString())));
        assertEquals("tessera-manager: mkdir(/proc/none/here): ENOENT\n", log());
        assertEquals(ManagerMain.EXIT_USAGE, exitOf(launch(LAUNCHER, "--check", "--speed", "9")));
        Process checked = launch(LAUNCHER, "--check", "--capacity", "8GiB", "--runtime-directory", "/r", "--shm-directory", "/s");
        assertEquals("tessera-manager: the options can be used; runtime directory /r, segments in /s\n",
                new String(checked.getInputStream().readAllBytes()));
        assertEquals(ManagerMain.EXIT_ENDED, exitOf(checked));
        Path deep = Files.createDirectories(folder.resolve("x".repeat(100)));
        assertEquals(ManagerMain.EXIT_UNUSABLE, exitOf(launch(LAUNCHER, "--runtime-directory", deep.toString(),
                "--shm-directory", paths.shmDirectory().toString())));
        assertTrue(log().contains("ENAMETOOLONG"), log());
        Process help = launch(LAUNCHER, "--help");
        String text = new String(help.getInputStream().readAllBytes());
        assertEquals(0, exitOf(help));
        for (ManagerOption option : ManagerOption.values()) {
            assertTrue(text.contains(option.flag()) && text.contains(option.variable()), option + " is missing");
        }
    }
}
