package io.tessera.manager.executors;

import io.tessera.guardian.state.StateStoreChoice;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxPort;
import io.tessera.os.StartArchive;
import io.tessera.protocol.ExecutorSockets;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Starts executors as processes of the manager's own Java and class path, which outlive it. Their log lies beside their socket. */
public final class ProcessLauncher implements ExecutorLauncher {
    private static final String MAIN = "io.tessera.executor.Main";
    /** Large methods are compiled too: interpreted kernels and the call switch are such. */
    private static final List<String> JVM_FLAGS = List.of("-XX:+UseSerialGC", "-XX:-DontCompileHugeMethods",
            "-XX:-UsePerfData", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");
    /** Further options of executors' Java, separated by spaces: a launcher script keeps what is meant for users' programs from the manager. */
    private static final String JAVA_OPTIONS = "TESSERA_EXECUTOR_JAVA";
    /** What a driver lets its cache grow to at most: 4 GiB (CUDA_CACHE_MAXSIZE in the CUDA programming guide). */
    private static final String MOST_CACHED_BYTES = "4294967296";
    private static final int LOG_PERMISSIONS = 0600;

    private final LinuxPort os;
    private final List<String> command;
    private final Path driverCache;

    /**
     * With the command before the options of each executor.
     *
     * @param driverCache folder where drivers keep what they compile
     */
    ProcessLauncher(LinuxPort os, List<String> command, Path driverCache) {
        this.os = os;
        this.command = List.copyOf(command);
        this.driverCache = driverCache;
    }

    /**
     * Executors of a kind, in this installation.
     *
     * @param software    where devices are software
     * @param driverCache folder where drivers keep what they compile
     */
    public static ProcessLauncher of(LinuxPort os, ExecutorKind kind, SoftwareDevices software, Path driverCache) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JVM_FLAGS);
        command.addAll(StartArchive.ofThisProcess().options("executor"));
        command.addAll(words(System.getenv(JAVA_OPTIONS)));
        command.addAll(StateStoreChoice.jvmFlags(StateStoreChoice.named(System.getenv())));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN, "--provider",
                kind.name().toLowerCase(Locale.ROOT), "--devices", Integer.toString(software.count()), "--memory",
                Long.toString(software.memoryBytes())));
        return new ProcessLauncher(os, command, driverCache);
    }

    static List<String> words(String options) {
        return options == null || options.isBlank() ? List.of() : List.of(options.strip().split("\\s+"));
    }

    @Override
    public Running start(int ordinal, Path socket, Listener listener) throws IOException {
        List<String> whole = new ArrayList<>(command);
        whole.addAll(List.of("--device", Integer.toString(ordinal), "--socket", socket.toString()));
        ProcessBuilder builder = new ProcessBuilder(whole);
        Path log = ExecutorSockets.log(socket);
        os.files().close(os.files().open(log, FilePort.Open.APPEND, LOG_PERMISSIONS)); // it names everybody's programs
        // Nothing of ours is its: it outlives us.
        builder.redirectInput(new File("/dev/null")).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        environment(builder.environment(), driverCache);
        return ExecutorLink.to(os, ExecutorSockets.ofManagers(socket), builder.start(), listener);
    }

    @Override
    public Running adopt(int ordinal, Path socket, Listener listener) {
        return ExecutorLink.adopt(os, ExecutorSockets.ofManagers(socket), listener);
    }

    static void environment(Map<String, String> environment, Path driverCache) {
        // Streams of several clients need queues of the device of their own, and modules of libraries are large.
        environment.put("CUDA_DEVICE_MAX_CONNECTIONS", "32");
        environment.put("CUDA_MODULE_LOADING", "LAZY");
        // Fenced programs are text that the driver compiles once: a second start finds them compiled.
        environment.putIfAbsent("CUDA_CACHE_PATH", driverCache.toString());
        environment.putIfAbsent("CUDA_CACHE_MAXSIZE", MOST_CACHED_BYTES);
        environment.remove("CUDA_CACHE_DISABLE");
        // The executor must meet the vendor's driver, not the library that relays to executors.
        environment.remove("LD_PRELOAD");
        environment.remove("TESSERA_SHARE");
    }
}
