package io.tessera.executor.control;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DeviceSnapshot;
import io.tessera.executor.fence.FenceFigures;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.part.PartKeeper;
import io.tessera.executor.session.Admission;
import io.tessera.executor.session.ClientSession;
import io.tessera.executor.turn.SubmissionGate;
import io.tessera.executor.turn.TurnUse;
import io.tessera.executor.window.TenantWindows;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TermsText;
import io.tessera.protocol.ExecutorSockets;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.message.RelayToken;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages between executor and managers, as lines; includes the facts that a manager which connects later has to know. Thread-safe.
 */
public final class ManagerChannel {
    private static final int MOST_LIMITS = 100_000;
    private static final Logger LOG = LoggerFactory.getLogger(ManagerChannel.class);

    private final Consumer<String> out;
    private final List<String> early = new ArrayList<>();
    /** Limits that managers have set, in bytes. */
    private final Map<String, Long> limits = new LinkedHashMap<>();
    private String state;
    private ManagerOrders orders;

    /** Creates a channel that sends lines to a receiver, which may lose them while no manager is connected. */
    public ManagerChannel(Consumer<String> out) {
        this.out = out;
    }

    /** Sets the listener. Orders that came earlier are delivered to it first. */
    public synchronized void orders(ManagerOrders hearing) {
        orders = hearing;
        early.forEach(this::hear);
        early.clear();
    }

    /** Registers a manager, and sends it what it has to know before any other message. */
    public synchronized void meet(Consumer<List<String>> manager) {
        manager.accept(greeting());
    }

    /** Returns the executor's identity and limits, and whether clients may come. */
    private List<String> greeting() {
        List<String> lines = new ArrayList<>();
        JsonObject executor = new JsonObject();
        executor.addProperty("version", ExecutorSockets.VERSION);
        lines.add(line("executor", executor));
        limits.forEach((tenant, bytes) -> {
            JsonObject limit = new JsonObject();
            limit.addProperty("tenant", tenant);
            limit.addProperty("limitBytes", bytes);
            lines.add(line("limit", limit));
        });
        if (state != null) {
            lines.add(state);
        }
        return lines;
    }

    /** Handles a line from a manager. */
    public synchronized void hear(String line) {
        if (orders == null) {
            early.add(line);
        } else {
            hear(line, orders);
        }
    }

    private void hear(String line, ManagerOrders orders) {
        try {
            JsonObject clientHandle = JsonParser.parseString(line).getAsJsonObject();
            if (clientHandle.has("admit")) {
                JsonObject client = clientHandle.getAsJsonObject("admit");
                orders.admit(RelayToken.ofHex(client.get("token").getAsString()),
                        new Admission.Client(client.get("client").getAsLong(), client.get("pid").getAsInt(),
                                (int) client.get("uid").getAsLong(), client.get("tenant").getAsString(),
                                client.get("limitBytes").getAsLong(), fences(client)));
            } else if (clientHandle.has("limit")) {
                JsonObject limit = clientHandle.getAsJsonObject("limit");
                long bytes = limit.get("limitBytes").getAsLong();
                if (bytes < 0) {
                    throw new IllegalArgumentException("a limit of " + bytes + " bytes");
                }
                String tenant = limit.get("tenant").getAsString();
                if (limits.size() < MOST_LIMITS || limits.containsKey(tenant)) {
                    limits.put(tenant, bytes);
                }
                orders.limit(tenant, bytes);
            } else if (clientHandle.has("park")) {
                orders.park(clientHandle.getAsJsonObject("park").get("tenant").getAsString());
            } else if (clientHandle.has("wake")) {
                orders.wake(clientHandle.getAsJsonObject("wake").get("tenant").getAsString());
            } else if (clientHandle.has("terms")) {
                JsonObject said = clientHandle.getAsJsonObject("terms");
                orders.terms(said.get("tenant").getAsString(), TermsText.parse(said.get("terms").getAsString()));
            } else if (clientHandle.has("turns")) {
                JsonObject said = clientHandle.getAsJsonObject("turns");
                String policy = said.get("policy").getAsString();
                orders.turns(PolicyName.of(policy).orElseThrow(() -> new IllegalArgumentException("there is no policy " + policy)),
                        TurnUse.valueOf(said.get("use").getAsString().toUpperCase(Locale.ROOT)));
            } else if (clientHandle.has("stop")) {
                orders.stop();
            } else if (clientHandle.has("leave")) {
                orders.stopIfIdle();
            } else {
                LOG.warn("the manager says what this executor does not know: {}", line);
            }
        } catch (JsonParseException | IllegalArgumentException | IllegalStateException | NullPointerException e) {
            LOG.warn("the manager says what cannot be read: {} ({})", line, e.getMessage());
        }
    }

    /** Reads the settings of a client's fences. Missing settings get the safest value. */
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

    /** Reports that clients can connect to the executor. */
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
        keep("ready", ready);
    }

    /** Reports that the executor cannot start, or cannot continue. */
    public void failed(String reason) {
        failed(reason, null);
    }

    /**
     * Reports that the executor cannot continue.
     *
     * @param tenant the tenant whose kernels are the cause; null: it is not known
     */
    public void failed(String reason, String tenant) {
        JsonObject failed = new JsonObject();
        failed.addProperty("reason", reason);
        if (tenant != null) {
            failed.addProperty("tenant", tenant);
        }
        keep("failed", failed);
    }

    /** Reports the clients' activity, their processors, and the bounds of the tenants' windows. */
    public void stats(List<ClientSession> sessions, PartKeeper parts, List<TenantWindows.Bounds> bounds) {
        JsonArray clients = new JsonArray();
        for (ClientSession session : sessions) {
            JsonObject client = new JsonObject();
            client.addProperty("client", session.clientId());
            client.addProperty("pid", session.who().pid());
            client.addProperty("uid", Integer.toUnsignedLong(session.who().uid()));
            client.addProperty("tenant", session.who().tenant());
            client.addProperty("usedBytes", session.usedBytes());
            client.addProperty("calls", session.counters().calls());
            client.addProperty("launches", session.counters().launches());
            client.addProperty("records", session.counters().records());
            client.addProperty("rejected", session.counters().rejected());
            client.addProperty("heapAllocatedBytes", session.heapAllocatedBytes());
            client.addProperty("terms", TermsText.of(parts.gate().termsOf(session.part().tenant())));
            client.addProperty("heldNs", session.part().turn().usedNs());
            client.addProperty("waitedNs", session.part().turn().waitedNs());
            client.addProperty("held", session.part().turn().isHeld());
            client.addProperty("replays", session.part().replays());
            client.addProperty("lostNs", session.part().lostNs());
            if (parts.processors() > 0) {
                client.addProperty("processors", parts.processors(session.part()));
                client.addProperty("deviceProcessors", parts.processors());
            }
            FenceFigures fences = session.fences();
            if (fences != null) {
                client.addProperty("fence", fences.fence());
                client.addProperty("shown", fences.machineCode().shown());
                client.addProperty("vendors", fences.machineCode().vendors());
                client.addProperty("unknown", fences.machineCode().unknown());
                client.addProperty("unfenced", fences.machineCode().unfenced());
                client.addProperty("violations", fences.violations());
                client.addProperty("nativeLaunches", fences.alone());
                client.addProperty("partLaunches", fences.parts());
                client.addProperty("fewBlockLaunches", fences.fewBlocks());
            }
            clients.add(client);
        }
        JsonObject stats = new JsonObject();
        stats.add("clients", clients);
        stats.add("turns", turns(parts.gate()));
        JsonArray windows = new JsonArray();
        for (TenantWindows.Bounds window : bounds) {
            JsonObject entry = new JsonObject();
            entry.addProperty("tenant", window.tenant());
            entry.addProperty("base", window.baseAddress());
            entry.addProperty("size", window.sizeBytes());
            entry.addProperty("committedBytes", window.committedBytes());
            entry.addProperty("quotaBytes", window.quotaBytes());
            entry.addProperty("sinkBytes", window.sinkBytes());
            entry.addProperty("awayBytes", window.awayBytes());
            entry.addProperty("movedOutBytes", window.copiedBytes());
            entry.addProperty("sparedBytes", window.sparedBytes());
            windows.add(entry);
        }
        stats.add("windows", windows);
        tell("stats", stats);
    }

    private static JsonObject turns(SubmissionGate gate) {
        JsonObject turns = new JsonObject();
        turns.addProperty("policy", gate.policy().text());
        turns.addProperty("use", gate.use().name().toLowerCase(Locale.ROOT));
        turns.addProperty("now", gate.isActive());
        return turns;
    }

    private static String line(String what, JsonElement content) {
        JsonObject line = new JsonObject();
        line.add(what, content);
        return line.toString();
    }

    private void tell(String what, JsonElement content) {
        out.accept(line(what, content));
    }

    /** Sends a message to the present manager, and keeps it for later ones. */
    private synchronized void keep(String what, JsonElement content) {
        state = line(what, content);
        out.accept(state);
    }
}
