package io.tessera.manager.executors;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.tessera.guardian.state.StateStoreChoice;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts executors as processes of the manager's own Java and class path. Their log lies beside their socket. */
public final class ProcessLauncher implements ExecutorLauncher {
    private static final String MAIN = "io.tessera.executor.Main";
    /** Large methods are compiled too: interpreted kernels and the call switch are such. */
    private static final List<String> JVM_FLAGS = List.of("-XX:+UseSerialGC", "-XX:-DontCompileHugeMethods",
            "-XX:-UsePerfData", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");
    /** Further options of executors' Java, separated by spaces: a launcher script keeps what is meant for users' programs from the manager. */
    private static final String JAVA_OPTIONS = "TESSERA_EXECUTOR_JAVA";
    private static final Logger LOG = LoggerFactory.getLogger(ProcessLauncher.class);

    /** What a driver lets its cache grow to at most: 4 GiB (CUDA_CACHE_MAXSIZE in the CUDA programming guide). */
    private static final String MOST_CACHED_BYTES = "4294967296";

    private final List<String> command;
    private final Path driverCache;

    /**
     * With the command before the options of each executor.
     *
     * @param driverCache folder where drivers keep what they compile
     */
    ProcessLauncher(List<String> command, Path driverCache) {
        this.command = List.copyOf(command);
        this.driverCache = driverCache;
    }

    /**
     * Executors of a kind, in this installation.
     *
     * @param software    where devices are software
     * @param driverCache folder where drivers keep what they compile
     */
    public static ProcessLauncher of(ExecutorKind kind, SoftwareDevices software, Path driverCache) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JVM_FLAGS);
        command.addAll(words(System.getenv(JAVA_OPTIONS)));
        command.addAll(StateStoreChoice.jvmFlags(StateStoreChoice.named(System.getenv())));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN, "--provider",
                kind.name().toLowerCase(Locale.ROOT), "--devices", Integer.toString(software.count()), "--memory",
                Long.toString(software.memoryBytes())));
        return new ProcessLauncher(command, driverCache);
    }

    static List<String> words(String options) {
        return options == null || options.isBlank() ? List.of() : List.of(options.strip().split("\\s+"));
    }

    @Override
    public Running start(int ordinal, Path socket, Listener listener) throws IOException {
        List<String> whole = new ArrayList<>(command);
        whole.addAll(List.of("--device", Integer.toString(ordinal), "--socket", socket.toString()));
        ProcessBuilder builder = new ProcessBuilder(whole);
        String log = socket.getFileName().toString().replaceFirst("\\.sock$", "") + ".log";
        builder.redirectError(ProcessBuilder.Redirect.appendTo(new File(socket.getParent().toFile(), log)));
        environment(builder.environment(), driverCache);
        Process process = builder.start();
        Thread.ofPlatform().name("executor-" + ordinal).daemon().start(() -> listen(process, listener));
        return new RunningProcess(process);
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

    private static void listen(Process process, Listener listener) {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            String line;
            while ((line = lines.readLine()) != null) {
                hear(line, listener);
            }
        } catch (IOException e) {
            LOG.warn("an executor cannot be heard any more: {}", e.getMessage());
        }
        try {
            listener.ended(process.waitFor());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void hear(String line, Listener listener) {
        try {
            listener.said(JsonParser.parseString(line).getAsJsonObject());
        } catch (JsonParseException | IllegalStateException e) {
            LOG.warn("an executor says what cannot be read: {}", line);
        }
    }

    /** A process and its input. */
    private record RunningProcess(Process process) implements Running {
        @Override
        public long pid() {
            return process.pid();
        }

        @Override
        public void tell(JsonObject line) {
            try {
                OutputStream out = process.getOutputStream();
                synchronized (process) {
                    out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
                    out.flush();
                }
            } catch (IOException e) {
                LOG.debug("an executor does not hear any more: {}", e.getMessage()); // its end is on its way to us
            }
        }

        @Override
        public void stop() {
            try {
                process.getOutputStream().close();
            } catch (IOException e) {
                LOG.debug("an executor's input ended already: {}", e.getMessage());
            }
        }

        @Override
        public void kill() {
            process.destroyForcibly();
        }
    }
}
