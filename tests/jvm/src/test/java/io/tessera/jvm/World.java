package io.tessera.jvm;

import io.tessera.os.StartArchive;
import io.tessera.testing.BuildOutputs;
import io.tessera.testing.FolderTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A test's surroundings: folders, a manager of its own, the processes that it started. Closing it ends them all and
 * removes the folders. Starting is thread-safe.
 */
final class World implements AutoCloseable {
    private final Path directory;
    private final Path sharedMemory;
    private final List<JvmProgram> programs = new ArrayList<>();
    private final AtomicInteger started = new AtomicInteger();
    private JvmProgram manager;

    World() {
        try {
            directory = Files.createTempDirectory(Path.of("/tmp"), "tjv-"); // short: a socket's path has 107 bytes
            Path memory = Path.of("/dev/shm");
            sharedMemory = Files.createTempDirectory(Files.isWritable(memory) ? memory : directory, "tjv-");
            Files.createDirectory(directory.resolve("driver"));
            Files.createSymbolicLink(directory.resolve("driver/libcuda.so.1"), BuildOutputs.scriptedDriver());
        } catch (IOException e) {
            throw new UncheckedIOException("the folders of the test cannot be made", e);
        }
    }

    Path directory() {
        return directory;
    }

    Path runtimeDirectory() {
        return directory.resolve("rt");
    }

    /** A folder in which the scripted driver is called libcuda.so.1. */
    Path driverFolder() {
        return directory.resolve("driver");
    }

    /** Starts a manager with the software GPU and waits until it can be reached. */
    World withManager() {
        return withManager("--executors", "software");
    }

    /** Starts a manager with these options and waits until it can be reached. */
    World withManager(String... options) {
        List<String> command = new ArrayList<>(Jvm.newest().command());
        command.addAll(new StartArchive(BuildOutputs.app()).options("manager"));
        command.addAll(List.of("-cp", BuildOutputs.app() + "/*", "io.tessera.manager.ManagerMain", "--runtime-directory",
                runtimeDirectory().toString(), "--shm-directory", sharedMemory.resolve("segments").toString()));
        command.addAll(List.of(options));
        manager = start(command, Map.of("TESSERA_STATE_DIR", directory.resolve("state").toString(),
                "_JAVA_SR_SIGNUM", "40", "TESSERA_EXECUTOR_JAVA", "-XX:TieredStopAtLevel=1")); // executors live for seconds
        manager.awaitLine("tessera-manager ready");
        return this;
    }

    /** Starts a process. It inherits nothing of Tessera's or the loader's variables. */
    JvmProgram start(List<String> command, Map<String, String> environment) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TESSERA_") || name.startsWith("LD_")
                || name.equals("JAVA_TOOL_OPTIONS") || name.equals("JDK_JAVA_OPTIONS") || name.equals("_JAVA_OPTIONS"));
        builder.environment().put("TESSERA_CACHE_DIR", directory.resolve("cache").toString());
        // A busy machine may keep a manager from every sign of life for longer than it is given by default.
        builder.environment().put("TESSERA_MANAGER_TIMEOUT_MS", "30000");
        builder.environment().putAll(environment);
        JvmProgram program = new JvmProgram(builder);
        synchronized (programs) {
            programs.add(program);
        }
        return program;
    }

    /** A sample as a tenant of the manager. */
    JvmProgram sample(Jvm jvm, Sample sample, TenantStart start) {
        return start(start.command(jvm, sample, BuildOutputs.agent(), folders()),
                Map.of("TESSERA_RUNTIME_DIR", runtimeDirectory().toString()));
    }

    /** The environment of a program on the scripted driver. */
    Map<String, String> scripted() {
        Map<String, String> environment = new TreeMap<>();
        environment.put("TESSERA_RUNTIME_DIR", runtimeDirectory().toString());
        environment.put("LD_LIBRARY_PATH", driverFolder().toString());
        return environment;
    }

    /** Options that give a program a folder of its own to unpack to: bindings use fixed names there. */
    List<String> folders() {
        try {
            Path folder = Files.createDirectory(directory.resolve("tmp-" + started.incrementAndGet()));
            return List.of("-Djava.io.tmpdir=" + folder, "-Dorg.bytedeco.javacpp.cachedir=" + folder.resolve("javacpp"));
        } catch (IOException e) {
            throw new UncheckedIOException("no folder for a program", e);
        }
    }

    /** {@code tessera} with these words, to its end. */
    ProcessResult tessera(String... words) {
        List<String> command = new ArrayList<>(List.of(BuildOutputs.tessera().toString()));
        command.addAll(List.of(words));
        return start(command, Map.of("TESSERA_JAVA", System.getProperty("java.home"), "TESSERA_RUNTIME_DIR",
                runtimeDirectory().toString())).end();
    }

    /** What the manager logged so far. */
    List<String> managersLog() {
        return manager.errors();
    }

    @Override
    public void close() {
        if (manager != null) {
            manager.terminate();
            manager.end();
        }
        synchronized (programs) {
            programs.forEach(JvmProgram::close);
        }
        FolderTree.delete(directory);
        FolderTree.delete(sharedMemory);
    }
}
