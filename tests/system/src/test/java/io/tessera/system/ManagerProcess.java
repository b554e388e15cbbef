package io.tessera.system;

import io.tessera.os.StartArchive;
import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
        List<String> command = new ArrayList<>(List.of(BuildOutputs.java(), "-XX:+UseSerialGC", "-Xmx256m",
                "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(new StartArchive(app).options("manager"));
        command.addAll(List.of("-cp", app + "/*",
                "-Dtessera.probe=" + BuildOutputs.nativeFolder().resolveSibling("bin").resolve("tessera-probe"),
                "io.tessera.manager.ManagerMain", "--runtime-directory", run.runtimeDirectory().toString(),
                "--shm-directory", run.segmentDirectory().toString()));
        command.addAll(List.of(options));
        ProcessBuilder builder = new ProcessBuilder(command).directory(run.directory().toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TESSERA_") || name.startsWith("LD_"));
        builder.environment().put("TESSERA_DRIVER", BuildOutputs.scriptedDriver().toString()); // for its executors
        // Code that a scripted driver made must not be where executors of this machine look.
        builder.environment().put("TESSERA_CACHE_DIR", run.directory().resolve("cache").toString());
        builder.environment().put("TESSERA_STATE_DIR", run.directory().resolve("state").toString());
        builder.environment().put("_JAVA_SR_SIGNUM", "40"); // HotSpot's own use of SIGUSR2 moves out of the way
        // Executors and workers live for seconds, too.
        builder.environment().put("TESSERA_EXECUTOR_JAVA", "-XX:TieredStopAtLevel=1 -Dtessera.executor.rehearsal=no");
        builder.environment().putAll(environment);
        try {
            process = new RunningProgram("manager", builder.start());
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
