package io.tessera.system;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Requests to a manager's control socket, as SPEC.md section 8 describes them. */
public final class ControlSocket {
    private final Path socket;

    public ControlSocket(Path runtimeDirectory) {
        this.socket = runtimeDirectory.resolve("control.sock");
    }

    public JsonObject request(String line) {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            channel.write(java.nio.ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
            BufferedReader reader = new BufferedReader(
                    new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8));
            String answer = reader.readLine();
            if (answer == null) {
                throw new AssertionError("no answer to " + line);
            }
            return JsonParser.parseString(answer).getAsJsonObject();
        } catch (IOException e) {
            throw new UncheckedIOException("the control socket does not answer", e);
        }
    }

    public JsonObject okay(String line) {
        JsonObject answer = request(line);
        if (!answer.get("ok").getAsBoolean()) {
            throw new AssertionError(line + " answered " + answer);
        }
        return answer;
    }

    public JsonObject status() {
        return okay("{\"request\":\"status\"}");
    }

    public void mode(String mode) {
        okay("{\"request\":\"scheduler\",\"mode\":\"" + mode + "\"}");
    }

    /** The device at the index, in the manager's order. */
    public JsonObject device(int index) {
        return status().getAsJsonArray("devices").get(index).getAsJsonObject();
    }

    public List<JsonObject> clients() {
        List<JsonObject> clients = new ArrayList<>();
        status().getAsJsonArray("clients").forEach(client -> clients.add(client.getAsJsonObject()));
        return clients;
    }

    /** Returns whether one client holds the turn and no other client's gate is open. */
    public boolean exclusive() {
        List<JsonObject> clients = clients();
        long granted = clients.stream().flatMap(client -> client.getAsJsonArray("devices").asList().stream())
                .filter(device -> device.getAsJsonObject().get("turn").getAsString().equals("granted")).count();
        long open = clients.stream().flatMap(client -> client.getAsJsonArray("devices").asList().stream())
                .filter(device -> device.getAsJsonObject().get("ack").getAsString().equals("open")).count();
        return granted == 1 && open == 1;
    }

    /** The client of a process. */
    public JsonObject client(long pid) {
        return clients().stream().filter(client -> client.get("pid").getAsLong() == pid).findFirst()
                .orElseThrow(() -> new AssertionError("no client with pid " + pid + " in " + status()));
    }

    /** Returns the client's entry for its first device. A client registers before it names a device, so this waits until it has named one. */
    public JsonObject clientDevice(long pid) {
        Await.until("process " + pid + " has named a device", Await.PATIENCE, () -> !devices(pid).isEmpty());
        return devices(pid).get(0).getAsJsonObject();
    }

    private JsonArray devices(long pid) {
        return client(pid).getAsJsonArray("devices");
    }
}
