package io.tessera.system;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A manager in a process of its own. Made by {@link TestRun#manager}. */
final class ManagerProcess implements AutoCloseable {
    /** An environment with which executors start as users' do: C2 compiles, and they rehearse. */
    static final Map<String, String> AS_USERS = Map.of("TESSERA_EXECUTOR_JAVA", "");
    private static final Duration READY = Duration.ofSeconds(30);

    private final RunningProgram process;
    private final ControlSocket control;

    ManagerProcess(TestRun run, Path app, Map<String, String> environment, String... options) {
        try {
            process = new RunningProgram("manager", run.folders().manager(app, environment, options).start());
        } catch (IOException e) {
            throw new UncheckedIOException("the manager cannot be started", e);
        }
        control = new ControlSocket(run.runtimeDirectory());
        String line = process.nextLine(READY);
        if (!line.startsWith("tessera-manager ready")) {
            throw new AssertionError("the manager said \"" + line + "\"; " + process.errors());
        }
    }

    ControlSocket control() {
        return control;
    }

    Process process() {
        return process.process();
    }

    boolean alive() {
        return process.process().isAlive();
    }

    /** What it logged so far. */
    List<String> log() {
        return process.errors();
    }

    void awaitLog(String part, Duration bound) {
        Await.until("the manager logs \"" + part + "\"", bound,
                () -> log().stream().anyMatch(line -> line.contains(part)), () -> String.join("\n", log()));
    }

    long kill() {
        long at = process.kill();
        process.end(Duration.ofSeconds(10));
        return at;
    }

    /** Ends it by SIGTERM and answers its exit code. */
    int stop() {
        ProcessSignals.send(process(), ProcessSignals.TERM);
        return process.end(Duration.ofSeconds(15)).exit();
    }

    @Override
    public void close() {
        process.close();
    }
}
