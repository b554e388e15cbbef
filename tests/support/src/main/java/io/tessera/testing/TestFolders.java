package io.tessera.testing;

import io.tessera.os.StartArchive;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The folders of a test that starts processes, and how it starts them: nothing of Tessera's or the loader's variables is inherited,
 * and no other manager of the machine is met. Made by the constructor, removed by {@link #delete}. Immutable.
 */
public final class TestFolders {
    /** Options of executors' and workers' Java, which live for seconds here. A test that needs others adds to them. */
    public static final String EXECUTOR_JAVA = "-XX:TieredStopAtLevel=1 -Dtessera.executor.warmUp=no";

    private final Path directory;
    private final Path sharedMemory;

    /** Makes them; names begin with the prefix, which is short: a socket's path has 107 bytes. */
    public TestFolders(String prefix) {
        try {
            directory = Files.createTempDirectory(Path.of("/tmp"), prefix);
            // Executors of root's manager are another user's.
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
            Path memory = Path.of("/dev/shm");
            sharedMemory = Files.createTempDirectory(Files.isWritable(memory) ? memory : directory, prefix);
            Files.createDirectory(driverFolder());
            Files.createSymbolicLink(driverFolder().resolve("libcuda.so.1"), BuildOutputs.scriptedDriver());
        } catch (IOException e) {
            throw new UncheckedIOException("the folders of the test cannot be made", e);
        }
    }

    /** The folder that processes run in. */
    public Path directory() {
        return directory;
    }

    /** A folder in shared memory, where there is such. */
    public Path sharedMemory() {
        return sharedMemory;
    }

    /** The manager's runtime directory, which the manager makes. */
    public Path runtimeDirectory() {
        return directory.resolve("rt");
    }

    /** The folder of clients' segments, which the manager makes. */
    public Path segmentDirectory() {
        return sharedMemory.resolve("segments");
    }

    /** A folder in which the scripted driver is called libcuda.so.1. */
    public Path driverFolder() {
        return directory.resolve("driver");
    }

    /** A process to be started with this environment. */
    public ProcessBuilder process(List<String> command, Map<String, String> environment) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TESSERA_") || name.startsWith("LD_")
                || name.equals("JAVA_TOOL_OPTIONS") || name.equals("JDK_JAVA_OPTIONS") || name.equals("_JAVA_OPTIONS"));
        // Code that a scripted driver made must not be where executors of this machine look.
        builder.environment().put("TESSERA_CACHE_DIR", directory.resolve("cache").toString());
        // A busy machine may keep a manager from every sign of life for longer than it is given by default.
        builder.environment().put("TESSERA_MANAGER_TIMEOUT_MS", "30000");
        builder.environment().putAll(environment);
        return builder;
    }

    /** The command of a manager that lives for seconds, of the jars in a folder, with options. */
    public static List<String> managerCommand(Path app, String... options) {
        List<String> command = new ArrayList<>(List.of(BuildOutputs.java(), "-XX:+UseSerialGC", "-Xmx256m",
                "-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=5", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(new StartArchive(app).options("manager"));
        command.addAll(List.of("-cp", app + "/*",
                "-Dtessera.probe=" + BuildOutputs.nativeFolder().resolveSibling("bin").resolve("tessera-probe"),
                "io.tessera.manager.ManagerMain"));
        command.addAll(List.of(options));
        return command;
    }

    /**
     * A manager to be started: the jars of a folder, with an environment of its own, which executors inherit. Its executors use the
     * scripted driver unless options name others.
     */
    public ProcessBuilder manager(Path app, Map<String, String> environment, String... options) {
        List<String> command = managerCommand(app, "--runtime-directory", runtimeDirectory().toString(), "--shm-directory",
                segmentDirectory().toString());
        command.addAll(List.of(options));
        ProcessBuilder builder = process(command, Map.of("TESSERA_DRIVER", BuildOutputs.scriptedDriver().toString(),
                "TESSERA_STATE_DIR", directory.resolve("state").toString(),
                "_JAVA_SR_SIGNUM", "40", // HotSpot's own use of SIGUSR2 moves out of the way
                "TESSERA_EXECUTOR_JAVA", EXECUTOR_JAVA));
        builder.environment().putAll(environment);
        return builder;
    }

    /** Removes the folders with all that is in them. */
    public void delete() {
        FolderTree.delete(directory);
        FolderTree.delete(sharedMemory);
    }
}
