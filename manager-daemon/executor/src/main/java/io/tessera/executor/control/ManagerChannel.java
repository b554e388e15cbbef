package io.tessera.executor.control;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DeviceSnapshot;
import io.tessera.executor.fence.FenceFigures;
import io.tessera.executor.fence.FenceSettings;
import io.tessera.executor.session.Admission;
import io.tessera.executor.session.ClientSession;
import io.tessera.executor.window.TenantWindows;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.RelayToken;
import io.tessera.protocol.UnfencedPolicy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lines between executor and manager. Telling is thread-safe; listening has a thread of its own. */
public final class ManagerChannel {
    private static final Logger LOG = LoggerFactory.getLogger(ManagerChannel.class);

    private final OutputStream out;

    /** Tells over a stream. */
    public ManagerChannel(OutputStream out) {
        this.out = out;
    }

    /** Listens on a thread of its own until the stream ends, which is an order to stop. */
    public static void listen(InputStream in, ManagerOrders orders) {
        Thread.ofPlatform().name("manager").daemon().start(() -> {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
                String line;
                while ((line = lines.readLine()) != null) {
                    hear(line, orders);
                }
                LOG.info("the manager has closed its end");
            } catch (IOException e) {
                LOG.warn("the manager cannot be heard any more: {}", e.getMessage());
            } finally {
                orders.stop();
            }
        });
    }

    private static void hear(String line, ManagerOrders orders) {
        try {
            JsonObject said = JsonParser.parseString(line).getAsJsonObject();
            if (said.has("admit")) {
                JsonObject client = said.getAsJsonObject("admit");
                orders.admit(RelayToken.ofHex(client.get("token").getAsString()),
                        new Admission.Client(client.get("client").getAsLong(), client.get("pid").getAsInt(),
                                (int) client.get("uid").getAsLong(), client.get("tenant").getAsString(),
                                client.get("limitBytes").getAsLong(), fences(client)));
            } else if (said.has("limit")) {
                JsonObject limit = said.getAsJsonObject("limit");
                long bytes = limit.get("limitBytes").getAsLong();
                if (bytes < 0) {
                    throw new IllegalArgumentException("a limit of " + bytes + " bytes");
                }
                orders.limit(limit.get("tenant").getAsString(), bytes);
            } else if (said.has("stop")) {
                orders.stop();
            } else {
                LOG.warn("the manager says what this executor does not know: {}", line);
            }
        } catch (JsonParseException | IllegalArgumentException | IllegalStateException | NullPointerException e) {
            LOG.warn("the manager says what cannot be read: {} ({})", line, e.getMessage());
        }
    }

    /** What is not said counts as the safest. */
    private static FenceSettings fences(JsonObject client) {
        FenceSettings safest = FenceSettings.safest();
        return new FenceSettings(
                FenceChoice.ofLabel(text(client, "fence")).orElse(safest.fence()),
                UnfencedPolicy.ofLabel(text(client, "unfenced")).orElse(safest.unfenced()),
                client.has("fenceAlone") ? client.get("fenceAlone").getAsBoolean() : safest.fenceAlone(),
                client.has("timeoutS") ? client.get("timeoutS").getAsInt() : 0,
                client.has("sharedTimeoutS") ? client.get("sharedTimeoutS").getAsInt() : 0);
    }

    private static String text(JsonObject from, String name) {
        return from.has(name) ? from.get(name).getAsString() : "";
    }

    /** The executor can be reached. */
    public void ready(DeviceContext device, DeviceSnapshot snapshot, Path socket) {
        JsonObject ready = new JsonObject();
        ready.addProperty("uuid", snapshot.uuid().toString());
        ready.addProperty("name", snapshot.name());
        ready.addProperty("ordinal", device.ordinal());
        ready.addProperty("count", device.count());
        ready.addProperty("software", device.port().software());
        ready.addProperty("socket", socket.toString());
        ready.addProperty("totalBytes", snapshot.totalBytes());
        ready.addProperty("driver", device.port().name());
        tell("ready", ready);
    }

    /** The executor cannot be, or cannot go on. */
    public void failed(String reason) {
        failed(reason, null);
    }

    /**
     * The executor cannot go on.
     *
     * @param tenant whose kernels are the cause; null: it is not known
     */
    public void failed(String reason, String tenant) {
        JsonObject failed = new JsonObject();
        failed.addProperty("reason", reason);
        if (tenant != null) {
            failed.addProperty("tenant", tenant);
        }
        tell("failed", failed);
    }

    /** What the clients do, and the bounds of the tenants' windows. */
    public void stats(List<ClientSession> sessions, List<TenantWindows.Bounds> bounds) {
        JsonArray clients = new JsonArray();
        for (ClientSession session : sessions) {
            JsonObject client = new JsonObject();
            client.addProperty("client", session.clientId());
            client.addProperty("usedBytes", session.usedBytes());
            client.addProperty("calls", session.counters().calls());
            client.addProperty("launches", session.counters().launches());
            client.addProperty("records", session.counters().records());
            client.addProperty("rejected", session.counters().rejected());
            client.addProperty("heapAllocatedBytes", session.heapAllocatedBytes());
            FenceFigures fences = session.fences();
            if (fences != null) {
                client.addProperty("fence", fences.fence());
                client.addProperty("unfenced", fences.unfenced());
                client.addProperty("violations", fences.violations());
                client.addProperty("secondLaunches", fences.second());
                client.addProperty("fewLaunches", fences.few());
                client.addProperty("nativeLaunches", fences.alone());
            }
            clients.add(client);
        }
        JsonObject stats = new JsonObject();
        stats.add("clients", clients);
        JsonArray windows = new JsonArray();
        for (TenantWindows.Bounds window : bounds) {
            JsonObject entry = new JsonObject();
            entry.addProperty("tenant", window.tenant());
            entry.addProperty("base", window.baseAddress());
            entry.addProperty("size", window.sizeBytes());
            entry.addProperty("committedBytes", window.committedBytes());
            entry.addProperty("quotaBytes", window.quotaBytes());
            entry.addProperty("sinkBytes", window.sinkBytes());
            windows.add(entry);
        }
        stats.add("windows", windows);
        tell("stats", stats);
    }

    private synchronized void tell(String what, JsonElement content) {
        JsonObject line = new JsonObject();
        line.add(what, content);
        try {
            out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (IOException e) {
            LOG.warn("the manager does not hear: {}", e.getMessage());
        }
    }
}
