package io.tessera.system;

import io.tessera.testing.TestFolders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A manager in a process of its own, with a file for its log. Made by {@link TestRun#manager}, or shared ({@link SharedManager}). */
public final class ManagerProcess implements AutoCloseable {
    /** An environment with which executors start as for users: C2 compiles, and they warm up. */
    public static final Map<String, String> AS_USERS = Map.of("TESSERA_EXECUTOR_JAVA", "");
    private static final Duration READY = Duration.ofSeconds(30);

    private final RunningProgram process;
    private final ControlSocket control;
    /** The log. It is a file and not a pipe, so that lines logged before an answer can be read as soon as the answer is there. */
    private final Path log;
    /** Number of lines at the start of the log that {@link #log} no longer returns. */
    private int forgotten;
    /** Number of lines that {@link #complaints} has examined. */
    private int judged;

    ManagerProcess(TestFolders folders, Path app, Map<String, String> environment, String... options) {
        try {
            log = Files.createTempFile(folders.directory(), "manager-", ".log");
            process = new RunningProgram("manager",
                    folders.manager(app, environment, options).redirectError(log.toFile()).start());
        } catch (IOException e) {
            throw new UncheckedIOException("the manager cannot be started", e);
        }
        control = new ControlSocket(folders.runtimeDirectory());
        String line;
        try {
            line = process.nextLine(READY);
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + log(), e);
        }
        if (!line.startsWith("tessera-manager ready")) {
            throw new AssertionError("the manager said \"" + line + "\"; " + log());
        }
    }

    public ControlSocket control() {
        return control;
    }

    public Process process() {
        return process.process();
    }

    public boolean alive() {
        return process.process().isAlive();
    }

    /** Returns the log so far. */
    public List<String> log() {
        try {
            return new String(Files.readAllBytes(log), StandardCharsets.UTF_8).lines().skip(forgotten).toList();
        } catch (IOException e) {
            throw new UncheckedIOException("the manager's log cannot be read", e);
        }
    }

    /** Returns the warnings and errors that it logged so far, except those that match one of the expressions. */
    List<String> complaints(List<String> expected) {
        List<Pattern> patterns = expected.stream().map(Pattern::compile).toList();
        List<String> lines = log();
        judged = forgotten + lines.size();
        return lines.stream().filter(line -> line.contains(" WARN ") || line.contains(" ERROR "))
                .filter(line -> patterns.stream().noneMatch(pattern -> pattern.matcher(line).find())).toList();
    }

    /** Makes {@link #log} begin after the lines that {@link #complaints} examined last, which belong to a test that has ended. */
    void forgetLog() {
        forgotten = judged;
    }

    public void awaitLog(String part, Duration bound) {
        Await.until("the manager logs \"" + part + "\"", bound,
                () -> log().stream().anyMatch(line -> line.contains(part)), () -> String.join("\n", log()));
    }

    public long kill() {
        long at = process.kill();
        process.end(Duration.ofSeconds(10));
        return at;
    }

    /** Ends it by SIGTERM and returns its exit code. */
    public int stop() {
        ProcessSignals.send(process(), ProcessSignals.TERM);
        return process.end(Duration.ofSeconds(15)).exit();
    }

    @Override
    public void close() {
        process.close();
    }
}
