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
 * The folders and the process environment of a test. Processes inherit no variables of Tessera or the loader, and meet no other manager of
 * the machine. The constructor creates the folders, {@link #delete} removes them. Immutable.
 */
public final class TestFolders {
    /** Java options of executors and workers, which run for only seconds in tests. A test that needs others adds to them. */
    public static final String EXECUTOR_JAVA = "-XX:TieredStopAtLevel=1 -Dtessera.executor.warmUp=no";

    private final Path directory;
    private final Path sharedMemory;

    /** Creates the folders. Their names begin with the prefix, which must be short: a socket's path has at most 107 bytes. */
    public TestFolders(String prefix) {
        try {
            directory = Files.createTempDirectory(Path.of("/tmp"), prefix);
            // Executors of root's manager run as another user.
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
            Path memory = Path.of("/dev/shm");
            sharedMemory = Files.createTempDirectory(Files.isWritable(memory) ? memory : directory, prefix);
            Files.createDirectory(driverFolder());
            Files.createSymbolicLink(driverFolder().resolve("libcuda.so.1"), BuildOutputs.scriptedDriver());
        } catch (IOException e) {
            throw new UncheckedIOException("the folders of the test cannot be made", e);
        }
    }

    /** Returns the working directory of the processes. */
    public Path directory() {
        return directory;
    }

    /** Returns a folder in shared memory, if there is such memory. */
    public Path sharedMemory() {
        return sharedMemory;
    }

    /** Returns the manager's runtime directory, which the manager creates. */
    public Path runtimeDirectory() {
        return directory.resolve("rt");
    }

    /** Returns the folder of clients' segments, which the manager creates. */
    public Path segmentDirectory() {
        return sharedMemory.resolve("segments");
    }

    /** Returns a folder in which the scripted driver is named libcuda.so.1. */
    public Path driverFolder() {
        return directory.resolve("driver");
    }

    /** Returns a process to be started with this environment. */
    public ProcessBuilder process(List<String> command, Map<String, String> environment) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TESSERA_") || name.startsWith("LD_")
                || name.equals("JAVA_TOOL_OPTIONS") || name.equals("JDK_JAVA_OPTIONS") || name.equals("_JAVA_OPTIONS"));
        // Code made by a scripted driver must not be in the cache of this machine's executors.
        builder.environment().put("TESSERA_CACHE_DIR", directory.resolve("cache").toString());
        // On a busy machine, a manager may give no sign of life for longer than the default timeout.
        builder.environment().put("TESSERA_MANAGER_TIMEOUT_MS", "30000");
        builder.environment().putAll(environment);
        return builder;
    }

    /** Returns the command of a short-lived manager from the jars in a folder, with options. */
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
     * Returns a manager to be started from the jars in a folder, with an environment of its own, which executors inherit. Its executors use
     * the scripted driver unless the options name another.
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

    /** Removes the folders with their contents. */
    public void delete() {
        FolderTree.delete(directory);
        FolderTree.delete(sharedMemory);
    }
}
