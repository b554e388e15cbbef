package io.tessera.manager.executors;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.protocol.DeviceUuid;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/** One device's executor, alive or not. One owner thread. */
final class ExecutorSlot {
    /** An executor that is not ready by then is ended. */
    static final long READY_NS = 30_000_000_000L;
    /** Pause before a restart, doubled with each death in a row. */
    static final long FIRST_PAUSE_NS = 500_000_000L;
    static final long LONGEST_PAUSE_NS = 30_000_000_000L;
    /** An executor that lived for so long has not died in a row. */
    private static final long STEADY_NS = 60_000_000_000L;

    /** Where an executor is in its life. */
    enum State {
        /** Started, not ready. */
        STARTING,
        /** Serves clients. */
        READY,
        /** Dead; started again when its pause is over. */
        RESTARTING,
        /** There is no such device; asked again when a client asks. */
        ABSENT
    }

    final int ordinal;
    final Path socket;
    State state = State.ABSENT;
    ExecutorLauncher.Running running;
    /** Which start is meant: what an earlier process says does not count. */
    int generation;
    long deadlineNs = Long.MAX_VALUE;
    String reason = "";
    int count = 1;
    private DeviceUuid uuid = new DeviceUuid(0, 0);
    private String name = "";
    private boolean software;
    private long totalBytes;
    private JsonArray clients = new JsonArray();
    private JsonArray windows = new JsonArray();
    private long memoryBytes;
    private long restarts;
    private long pauseNs = FIRST_PAUSE_NS;
    private long readySinceNs;

    ExecutorSlot(int ordinal, Path socket) {
        this.ordinal = ordinal;
        this.socket = socket;
    }

    /** Starts it; a failure to is a death. */
    void start(ExecutorLauncher launcher, ExecutorLauncher.Listener listener, long nowNs) {
        generation++;
        clients = new JsonArray();
        try {
            running = launcher.start(ordinal, socket, listener);
            state = State.STARTING;
            deadlineNs = nowNs + READY_NS;
        } catch (IOException e) {
            died("it cannot be started: " + e.getMessage(), nowNs);
        }
    }

    /** It says that it is ready. */
    void ready(JsonObject said, long nowNs) {
        uuid = Optional.ofNullable(said.get("uuid")).map(JsonElement::getAsString).flatMap(DeviceUuid::parse)
                .orElse(uuid);
        name = text(said, "name");
        software = said.has("software") && said.get("software").getAsBoolean();
        totalBytes = said.has("totalBytes") ? said.get("totalBytes").getAsLong() : 0;
        count = said.has("count") ? Math.clamp(said.get("count").getAsLong(), 1, 16) : 1;
        state = State.READY;
        reason = "";
        deadlineNs = Long.MAX_VALUE;
        readySinceNs = nowNs;
    }

    private static String text(JsonObject said, String name) {
        return said.has(name) ? said.get(name).getAsString() : "";
    }

    /** It says what its clients do. */
    void stats(JsonObject said) {
        if (said.get("clients") instanceof JsonArray told) {
            clients = told;
        }
        windows = said.get("windows") instanceof JsonArray told ? told : new JsonArray();
        long committed = sum(windows, "committedBytes") + sum(windows, "sinkBytes");
        memoryBytes = Math.max(committed, sum(clients, "usedBytes"));
    }

    private static long sum(JsonArray objects, String name) {
        long sum = 0;
        for (JsonElement object : objects) {
            sum += object.getAsJsonObject().get(name).getAsLong();
        }
        return sum;
    }

    /** Physical memory of the device that it holds for its tenants, as it last said; 0: it does not run. */
    long memoryBytes() {
        return memoryBytes;
    }

    /** It says that it cannot go on: nobody is sent there any more, and its end is on its way to us. */
    void failing(String why, long nowNs) {
        reason = why;
        if (state == State.READY) {
            if (nowNs - readySinceNs > STEADY_NS) {
                pauseNs = FIRST_PAUSE_NS;
            }
            state = State.RESTARTING;
            deadlineNs = Long.MAX_VALUE;
        }
    }

    /** It is dead; it is started again after a pause, if it ever was ready. */
    void died(String why, long nowNs) {
        running = null;
        if (reason.isEmpty()) {
            reason = why;
        }
        boolean was = state == State.READY || state == State.RESTARTING;
        if (state == State.READY && nowNs - readySinceNs > STEADY_NS) {
            pauseNs = FIRST_PAUSE_NS;
        }
        state = was ? State.RESTARTING : State.ABSENT;
        deadlineNs = nowNs + pauseNs;
        pauseNs = Math.min(LONGEST_PAUSE_NS, pauseNs * 2);
        restarts += was ? 1 : 0;
        clients = new JsonArray();
        windows = new JsonArray();
        memoryBytes = 0;
    }

    DeviceUuid uuid() {
        return uuid;
    }

    boolean software() {
        return software;
    }

    /** As {@code status} shows it (SPEC.md, section 8). */
    JsonObject json() {
        JsonObject json = new JsonObject();
        json.addProperty("ordinal", ordinal);
        json.addProperty("state", state.name().toLowerCase(Locale.ROOT));
        if (!name.isEmpty()) {
            json.addProperty("uuid", uuid.toString());
            json.addProperty("name", name);
            json.addProperty("software", software);
            json.addProperty("totalBytes", totalBytes);
        }
        if (running != null) {
            json.addProperty("pid", running.pid());
        }
        json.addProperty("usedBytes", sum(clients, "usedBytes"));
        json.addProperty("restarts", restarts);
        if (!reason.isEmpty()) {
            json.addProperty("reason", reason);
        }
        json.add("clients", clients);
        JsonArray shown = state == State.READY ? WindowTable.windows(socket, uuid.toString(), windows) : windows;
        if (!shown.isEmpty()) {
            json.add("windows", shown);
        }
        return json;
    }
}
