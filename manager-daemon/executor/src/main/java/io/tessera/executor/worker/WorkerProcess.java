package io.tessera.executor.worker;

import io.tessera.os.StartArchive;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * One worker, from the executor's side. It gets only three pipes and a few environment variables from the executor. One thread at a time owns it;
 * {@link #kill} may be called by any thread. All waits end when it is killed.
 */
final class WorkerProcess {
    private static final int BUFFER_BYTES = 1 << 16;
    /** Number of bytes from the end of its standard error that are kept. */
    private static final int LAST_WORDS = 2048;
    private static final long END_MS = 5_000;
    private static final int UNKNOWN_EXIT = -1;
    /** Environment variables that are passed on, for the driver and the JVM. Java and glibc read others, which a worker does not need. */
    private static final List<String> VARIABLES = List.of("HOME", "LANG", "TMPDIR", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
            "CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE", "TESSERA_DRIVER");
    /** A priority below the executor and the programs: the code of one tenant can occupy whole cores for a long time, for which all others would wait. */
    private static final List<String> PRIORITY = Stream.of("/usr/bin/nice", "/bin/nice").filter(file -> Files.isExecutable(Path.of(file)))
            .findFirst().map(file -> List.of(file, "-n", "5")).orElse(List.of());
    private static final List<String> JVM_FLAGS = List.of("-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:+ExitOnOutOfMemoryError",
            "-XX:MaxMetaspaceSize=192m", "-XX:ReservedCodeCacheSize=96m", "-XX:MaxDirectMemorySize=64m", "-XX:-CreateCoredumpOnCrash",
            "-XX:+DisableAttachMechanism", "-XX:ErrorFile=/dev/null", "-XX:-DontCompileHugeMethods", "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow");

    /** Further options of Java, separated by spaces: those that a manager gives its executors also apply to their workers. */
    private static final String JAVA_OPTIONS = "TESSERA_EXECUTOR_JAVA";

    private final Process process;
    private final WorkerSettings settings;
    private final DataOutputStream out;
    private final DataInputStream in;
    private final StringBuffer lastWords = new StringBuffer();
    private final Thread listener;
    private volatile boolean hasDriver;
    private volatile long idleSinceNs;

    private WorkerProcess(Process process, WorkerSettings settings) {
        this.process = process;
        this.settings = settings;
        this.out = new DataOutputStream(new BufferedOutputStream(process.getOutputStream(), BUFFER_BYTES));
        this.in = new DataInputStream(new BufferedInputStream(process.getInputStream(), BUFFER_BYTES));
        this.listener = Thread.ofPlatform().name("worker-" + process.pid()).daemon().start(this::listen);
    }

    /** Starts a worker, which is not ready yet. */
    static WorkerProcess start(WorkerSettings settings) throws IOException {
        List<String> command = new ArrayList<>(PRIORITY);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JVM_FLAGS);
        command.addAll(StartArchive.ofThisProcess().options("worker"));
        command.addAll(words(System.getenv(JAVA_OPTIONS)));
        command.add("-Xmx" + settings.heapBytes());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), WorkerMain.class.getName(),
                Long.toString(settings.dataBytes()), Long.toString(settings.mostJobBytes()), settings.provider(),
                Integer.toString(settings.driver().ordinal()), Integer.toString(settings.driver().devices()),
                Long.toString(settings.driver().memoryBytes())));
        ProcessBuilder builder = new ProcessBuilder(command); // the JDK closes every other descriptor in the child
        environment(builder.environment());
        return new WorkerProcess(builder.start(), settings);
    }

    private static List<String> words(String options) {
        return options == null || options.isBlank() ? List.of() : List.of(options.strip().split("\\s+"));
    }

    static void environment(Map<String, String> environment) {
        environment.keySet().retainAll(VARIABLES);
        environment.put("CUDA_MODULE_LOADING", "LAZY");
    }

    /**
     * Waits until it is ready for its first job.
     *
     * @throws IOException if it has ended
     */
    void awaitReady() throws IOException {
        expect(Message.Kind.READY);
    }

    /**
     * Sends a job.
     *
     * @throws IOException if it has ended
     */
    void begin(Message job) throws IOException {
        hasDriver |= job.kind() != Message.Kind.FENCE;
        job.write(out);
        expect(Message.Kind.READY);
    }

    /**
     * Returns the answer of a job that has begun.
     *
     * @throws IOException if it has ended, or sent something other than an answer
     */
    Message answer() throws IOException {
        Message answer = expect(Message.Kind.ANSWER);
        expect(Message.Kind.READY);
        if (answer.numbers().size() != 1) {
            throw new IOException("an answer of " + answer.numbers().size() + " numbers");
        }
        return answer;
    }

    private Message expect(Message.Kind kind) throws IOException {
        Message message = Message.read(in, settings.mostAnswerBytes());
        if (message.kind() != kind) {
            throw new IOException(message.kind() + " instead of " + kind);
        }
        return message;
    }

    private void listen() {
        byte[] piece = new byte[LAST_WORDS];
        try (InputStream clientHandle = process.getErrorStream()) {
            for (int bytes = clientHandle.read(piece); bytes >= 0; bytes = clientHandle.read(piece)) {
                lastWords.append(new String(piece, 0, bytes, StandardCharsets.UTF_8));
                lastWords.delete(0, Math.max(0, lastWords.length() - LAST_WORDS));
            }
        } catch (IOException e) {
            lastWords.append(e.getMessage());
        }
    }

    /** Returns the end of its standard error, for log lines; to be called when it has ended. */
    String lastWords() {
        try {
            listener.join(END_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return lastWords.toString().strip();
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Returns whether it has opened a driver, and holds a context of a device. */
    boolean hasDriver() {
        return hasDriver;
    }

    long idleSinceNs() {
        return idleSinceNs;
    }

    void idleSince(long nowNs) {
        idleSinceNs = nowNs;
    }

    /** Kills it at once, even if it is blocked. */
    void kill() {
        process.destroyForcibly();
    }

    /** Ends it and waits for that. Returns its exit code. */
    int end() {
        kill();
        try {
            return process.waitFor(END_MS, TimeUnit.MILLISECONDS) ? process.exitValue() : UNKNOWN_EXIT;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return UNKNOWN_EXIT;
        }
    }

    /** Returns the exit code of a worker whose pipe has ended, so that it is about to end itself. */
    int exitCode() {
        try {
            return process.waitFor(END_MS, TimeUnit.MILLISECONDS) ? process.exitValue() : end();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return end();
        }
    }
}
