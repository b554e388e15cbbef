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
    /** An environment with which executors start as users' do: C2 compiles, and they warm up. */
    public static final Map<String, String> AS_USERS = Map.of("TESSERA_EXECUTOR_JAVA", "");
    private static final Duration READY = Duration.ofSeconds(30);

    private final RunningProgram process;
    private final ControlSocket control;
    /** A file, and no pipe: what was logged before an answer is there with the answer. */
    private final Path log;
    /** Lines of the log of which {@link #log} does not tell any more. */
    private int forgotten;
    /** Lines in which {@link #complaints} has looked. */
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

    /** What it logged so far. */
    public List<String> log() {
        try {
            return new String(Files.readAllBytes(log), StandardCharsets.UTF_8).lines().skip(forgotten).toList();
        } catch (IOException e) {
            throw new UncheckedIOException("the manager's log cannot be read", e);
        }
    }

    /** Warnings and errors that it logged so far, without those in which one of the expressions is found. */
    List<String> complaints(List<String> expected) {
        List<Pattern> patterns = expected.stream().map(Pattern::compile).toList();
        List<String> lines = log();
        judged = forgotten + lines.size();
        return lines.stream().filter(line -> line.contains(" WARN ") || line.contains(" ERROR "))
                .filter(line -> patterns.stream().noneMatch(pattern -> pattern.matcher(line).find())).toList();
    }

    /** From now on {@link #log} begins behind what {@link #complaints} has last looked at, which belongs to a test that has ended. */
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

    /** Ends it by SIGTERM and answers its exit code. */
    public int stop() {
        ProcessSignals.send(process(), ProcessSignals.TERM);
        return process.end(Duration.ofSeconds(15)).exit();
    }

    @Override
    public void close() {
        process.close();
    }
}
