package io.tessera.cli.control;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import io.tessera.cli.control.ControlException.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/**
 * Sends requests to the manager, each on a connection of its own. A request that is not answered within its time limit fails.
 * Stateless and thread-safe.
 */
public final class ControlClient {
    /** Default time limit of a request: far above the duty cycle of a busy manager, and short for a user. */
    public static final Duration PATIENCE = Duration.ofSeconds(5);

    /**
     * Maximum size of an answer: a status of some thousand clients. A larger one is not the manager's, and would exceed a command's memory.
     */
    static final int MAX_ANSWER_BYTES = 6 << 20;
    private static final Pattern CONTROL = Pattern.compile("\\p{Cc}");
    private static final Gson GSON = new GsonBuilder().setStrictness(Strictness.STRICT).create();

    private final Path socket;
    private final Duration patience;

    /** Creates a client of the manager at a socket, which waits at most {@code patience} for each answer. */
    public ControlClient(Path socket, Duration patience) {
        this.socket = socket;
        this.patience = patience;
    }

    /** Returns the manager's socket. */
    public Path socket() {
        return socket;
    }

    /**
     * Sends a request without parameters.
     *
     * @param name {@code status} or {@code ping}
     */
    public JsonObject ask(String name) throws ControlException {
        JsonObject request = new JsonObject();
        request.addProperty("request", name);
        return ask(request);
    }

    /**
     * Sends a request and returns the answer, whose {@code ok} is true.
     *
     * @throws ControlException if there is no manager, it refuses, or its answer is late, malformed or missing
     */
    public JsonObject ask(JsonObject request) throws ControlException {
        if (!Files.exists(socket)) {
            throw Files.notExists(socket) ? noManager(null) : hidden();
        }
        JsonObject answer;
        try {
            answer = parse(exchange(GSON.toJson(request) + "\n"));
        } catch (OutOfMemoryError | StackOverflowError e) { // any process may listen there and send anything
            throw new ControlException(Kind.MALFORMED, "the manager's answer takes more memory than this command has", e);
        }
        JsonElement ok = answer.get("ok");
        if (ok == null || !ok.isJsonPrimitive() || !ok.getAsJsonPrimitive().isBoolean()) {
            throw new ControlException(Kind.MALFORMED, "the manager's answer does not say whether it is ok: "
                    + shortened(answer.toString()));
        }
        if (!ok.getAsBoolean()) {
            JsonElement error = answer.get("error");
            String reason = error != null && error.isJsonPrimitive() ? error.getAsString() : "it gives no reason";
            throw new ControlException(Kind.REFUSED, "the manager refuses: " + reason);
        }
        return answer;
    }

    /** Returns a JSON object as one line without control characters, whatever its texts contain. */
    public static String line(JsonObject object) {
        return CONTROL.matcher(object.toString()).replaceAll(found -> String.format(Locale.ROOT, "\\\\u%04x", (int) found.group().charAt(0)));
    }

    private String exchange(String line) throws ControlException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            FutureTask<String> task = new FutureTask<>(() -> exchange(channel, line));
            Thread.ofPlatform().daemon().name("control").start(task);
            // The end of this block closes the channel, which ends a thread that still waits in it.
            return task.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new ControlException(Kind.TIMEOUT, "the manager behind " + socket + " does not answer within "
                    + patience.toMillis() + " ms; " + StoppedManager.beside(socket).orElse("tessera manager logs may say why"), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControlException(Kind.UNREACHABLE, "interrupted while the manager answered", e);
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private String exchange(SocketChannel channel, String line) throws IOException, ControlException {
        channel.connect(UnixDomainSocketAddress.of(socket));
        ByteBuffer request = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
        while (request.hasRemaining()) {
            channel.write(request);
        }
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        ByteBuffer buffer = ByteBuffer.allocate(64 << 10);
        while (channel.read(buffer) >= 0) {
            buffer.flip();
            while (buffer.hasRemaining()) {
                byte b = buffer.get();
                if (b == '\n') {
                    return answer.toString(StandardCharsets.UTF_8);
                }
                answer.write(b);
            }
            buffer.clear();
            if (answer.size() > MAX_ANSWER_BYTES) {
                throw new ControlException(Kind.MALFORMED, "the manager's answer is longer than " + MAX_ANSWER_BYTES
                        + " bytes");
            }
        }
        throw new ControlException(Kind.MALFORMED, "the manager closed the connection in the middle of its answer");
    }

    private JsonObject parse(String line) throws ControlException {
        try {
            JsonObject answer = GSON.fromJson(line, JsonObject.class);
            if (answer != null) {
                return answer;
            }
        } catch (JsonParseException e) {
            throw new ControlException(Kind.MALFORMED, "the manager's answer is no JSON object: " + shortened(line), e);
        }
        throw new ControlException(Kind.MALFORMED, "the manager's answer is empty");
    }

    private ControlException failure(Throwable cause) {
        if (cause instanceof ControlException known) {
            return known;
        }
        if (cause instanceof ConnectException) {
            return noManager(cause);
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return new ControlException(Kind.UNREACHABLE, "cannot talk to the manager behind " + socket + ": "
                + cause.getMessage(), cause);
    }

    private ControlException noManager(Throwable cause) {
        return new ControlException(Kind.NO_MANAGER, "no manager runs: nobody listens on " + socket
                + ". tessera manager start starts one", cause);
    }

    /** Returns the error for a socket that cannot be examined, so that it is unknown whether a manager runs. */
    private ControlException hidden() {
        Path folder = socket.toAbsolutePath().getParent();
        String owner;
        try {
            owner = "belongs to user " + Files.getAttribute(folder, "unix:uid");
        } catch (IOException | UnsupportedOperationException e) {
            owner = "is another user's";
        }
        return new ControlException(Kind.UNREACHABLE, "the runtime directory " + folder + " " + owner + " and cannot be looked into: "
                + "whether a manager runs there is not known. Ask as that user, or set TESSERA_RUNTIME_DIR to a directory of your own");
    }

    private static String shortened(String line) {
        return line.length() <= 80 ? line : line.substring(0, 80) + "...";
    }
}
