package io.tessera.attacks;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.clock.NanoClock;
import io.tessera.os.StartArchive;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A manager with its executor, in folders of its own. One owner thread. */
final class AttackedService implements AutoCloseable {
    private static final long READY_NS = 60_000_000_000L;
    private static final long END_NS = 20_000_000_000L;
    /** Inherited variables: the driver, and the Java options of executors and workers. */
    private static final List<String> INHERITED = List.of("TESSERA_DRIVER", "TESSERA_EXECUTOR_JAVA");

    private final Path folder;
    private final LineProcess manager;

    /**
     * Starts the service and waits until it is ready.
     *
     * @param app     the folder of the jars of manager and executors
     * @param control whether its executor runs without protection
     */
    AttackedService(Path folder, Path app, List<String> options, boolean control, NanoClock clock) throws IOException, InterruptedException {
        this.folder = folder;
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC", "-Xmx256m",
                "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(new StartArchive(app).options("manager"));
        command.addAll(List.of("-cp", app + "/*", "io.tessera.manager.ManagerMain", "--runtime-directory", folder.toString(),
                "--shm-directory", folder.resolve("shm").toString()));
        command.addAll(options);
        Map<String, String> environment = new TreeMap<>();
        for (String name : INHERITED) {
            String value = System.getenv(name);
            if (value != null) {
                environment.put(name, value);
            }
        }
        if (control) {
            environment.put("TESSERA_EXECUTOR_UNPROTECTED", "1");
        }
        manager = new LineProcess(command, environment, folder, clock);
        if (manager.linesUntil("tessera-manager ready", READY_NS) == null) {
            manager.close();
            throw new IOException("the manager does not start: " + String.join("\n", manager.errors()));
        }
    }

    boolean alive() {
        return manager.alive();
    }

    /** Returns the process id of the executor; 0: none runs. */
    long executor() throws IOException {
        JsonArray executors = status().getAsJsonArray("executors");
        if (executors == null || executors.isEmpty() || !executors.get(0).getAsJsonObject().has("pid")) {
            return 0;
        }
        return executors.get(0).getAsJsonObject().get("pid").getAsLong();
    }

    /**
     * Returns whether the executor has a window of that tenant by its last report, which it sends when a client connects or leaves. It has
     * one while any work of the tenant remains.
     */
    boolean serves(String tenant) throws IOException {
        JsonArray executors = status().getAsJsonArray("executors");
        JsonElement windows = executors == null || executors.isEmpty() ? null : executors.get(0).getAsJsonObject().get("windows");
        if (windows == null) {
            return false;
        }
        for (JsonElement window : windows.getAsJsonArray()) {
            if (window.getAsJsonObject().get("tenant").getAsString().equals(tenant)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the manager's status. */
    JsonObject status() throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(folder.resolve("control.sock")));
            channel.write(ByteBuffer.wrap("{\"request\":\"status\"}\n".getBytes(StandardCharsets.UTF_8)));
            String answer = new BufferedReader(new InputStreamReader(Channels.newInputStream(channel),
                    StandardCharsets.UTF_8)).readLine();
            if (answer == null) {
                throw new IOException("the manager does not answer");
            }
            return JsonParser.parseString(answer).getAsJsonObject();
        }
    }

    Path folder() {
        return folder;
    }

    /** Returns the reason that the last ended executor gave; empty: none has ended, or it gave none. */
    String lastWords() throws IOException {
        Path log = folder.resolve("executors/executor-0.log");
        if (!Files.exists(log)) {
            return "";
        }
        String begin = "the executor ends: ";
        try (Stream<String> lines = Files.lines(log, StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.contains(begin))
                    .map(line -> line.substring(line.indexOf(begin) + begin.length())).reduce("", (_, last) -> last);
        }
    }

    List<String> log() {
        return manager.errors();
    }

    @Override
    public void close() {
        manager.terminate();
        manager.exit(END_NS);
        manager.close();
    }
}
