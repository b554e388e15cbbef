package io.tessera.manager.executors;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.tessera.manager.control.TermsJson;
import io.tessera.manager.placement.GpuTimes;
import io.tessera.policy.TenantTerms;
import io.tessera.policy.TermsText;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.message.TenantName;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntToLongFunction;

/** One device's executor, running or not. One owner thread. */
final class ExecutorSlot {
    /** Time after which an executor that is not ready is ended. */
    static final long READY_NS = 30_000_000_000L;
    /** Pause before the next start of an executor that failed at once, doubled at each failure in a row. */
    static final long FIRST_PAUSE_NS = 250_000_000L;
    static final long LONGEST_PAUSE_NS = 30_000_000_000L;
    /** A longer pause is logged. */
    static final long LONG_PAUSE_NS = 1_000_000_000L;
    /** An executor that served for this long has not failed at once: it is started again without a pause. */
    private static final long STEADY_NS = 1_000_000_000L;
    /** Maximum number of starts in a row of an executor that ends before it is ready without a reason: it may have been killed. */
    private static final int MOST_STARTS = 3;

    /** State of an executor. */
    enum State {
        /** Started or taken over, not ready. */
        STARTING,
        /** Serves clients. */
        READY,
        /** Dead; started again after its pause. */
        RESTARTING,
        /** There is no such device; the executor is started again when a client asks. */
        ABSENT,
        /** Running, but of another version: it is left alone. */
        FOREIGN
    }

    final HangDetection lateness = new HangDetection();
    final int ordinal;
    final Path socket;
    State state = State.ABSENT;
    ExecutorLauncher.Running running;
    /** Number of the start; messages of an earlier process are ignored. */
    int generation;
    long deadlineNs = Long.MAX_VALUE;
    /** Whether a former manager has started it. */
    boolean adopted;
    String reason = "";
    private String rootBecause = "";
    int count = 1;
    private DeviceUuid uuid = new DeviceUuid(0, 0);
    private String name = "";
    private boolean software;
    private long totalBytes;
    private JsonArray clients = new JsonArray();
    private JsonArray windows = new JsonArray();
    private JsonObject turns = new JsonObject();
    private long memoryBytes;
    private long restarts;
    /** Number of immediate failures in a row. */
    private int failures;
    private long readySinceNs;

    ExecutorSlot(int ordinal, Path socket) {
        this.ordinal = ordinal;
        this.socket = socket;
    }

    /** Starts it; if it cannot be started, that counts as a death. */
    void start(ExecutorLauncher launcher, ExecutorLauncher.Listener listener, long nowNs) {
        generation++;
        clients = new JsonArray();
        lateness.heard(nowNs);
        try {
            running = launcher.start(ordinal, socket, listener);
            rootBecause = launcher.rootBecause();
            state = State.STARTING;
            adopted = false;
            deadlineNs = nowNs + READY_NS;
        } catch (IOException e) {
            died("it cannot be started: " + e.getMessage(), nowNs);
        }
    }

    /** Takes over an executor that runs. Returns whether there is one. */
    boolean adopt(ExecutorLauncher launcher, ExecutorLauncher.Listener listener, long nowNs) {
        generation++;
        running = launcher.adopt(ordinal, socket, listener);
        if (running == null) {
            return false;
        }
        rootBecause = launcher.rootBecause();
        lateness.heard(nowNs);
        state = State.STARTING;
        adopted = true;
        deadlineNs = nowNs + READY_NS;
        return true;
    }

    /** Records that the executor is of another version than this manager. */
    void foreign(long version) {
        state = State.FOREIGN;
        deadlineNs = Long.MAX_VALUE;
        reason = "executor " + ordinal + " (pid " + running.pid() + ") is of another version of Tessera (protocol " + version
                + ") and is left alone: new programs come in when its programs have ended, or end them by tessera manager"
                + " stop --programs";
    }

    /** Records that it is ready. */
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

    /** Records its report about its clients. */
    void stats(JsonObject said) {
        if (said.get("clients") instanceof JsonArray told) {
            clients = told;
        }
        windows = said.get("windows") instanceof JsonArray told ? told : new JsonArray();
        turns = said.get("turns") instanceof JsonObject told ? told : new JsonObject();
        long committed = sum(windows, "committedBytes") + sum(windows, "sinkBytes");
        memoryBytes = Math.max(committed, sum(clients, "usedBytes"));
    }

    /** Returns the settings that the executor has for the tenants in it, as it last reported them ({@link TermsText}). */
    Map<String, String> believedTerms(int ownUid) {
        Map<String, String> tenants = new HashMap<>();
        for (JsonElement each : clients) {
            JsonObject client = each.getAsJsonObject();
            if (client.get("terms") instanceof JsonPrimitive said) {
                tenants.put(TenantName.of(client.get("tenant").getAsString(), (int) client.get("uid").getAsLong(), ownUid), said.getAsString());
            }
        }
        return tenants;
    }

    /** Returns whether its tenants share as they should, according to its last report. */
    boolean shares(SpaceSharing sharing) {
        return !turns.has("policy") || text(turns, "policy").equals(sharing.policy().text()) && text(turns, "use").equals(sharing.use());
    }

    private static long sum(JsonArray objects, String name) {
        long sum = 0;
        for (JsonElement object : objects) {
            sum += object.getAsJsonObject().get(name).getAsLong();
        }
        return sum;
    }

    /** Returns the physical memory of the device that it holds for its tenants, as last reported; 0: it does not run. */
    long memoryBytes() {
        return memoryBytes;
    }

    /** Records that it cannot continue: no more clients are sent to it, and its end will be reported. */
    void failing(String why, long nowNs) {
        reason = why;
        if (state == State.READY) {
            countFailure(nowNs);
            state = State.RESTARTING;
            deadlineNs = Long.MAX_VALUE;
        }
    }

    private void countFailure(long nowNs) {
        failures = nowNs - readySinceNs >= STEADY_NS ? 0 : failures + 1;
    }

    /** Records its death. It is started again, after a pause if it failed at once, unless it cannot become ready. */
    void died(String why, long nowNs) {
        running = null;
        boolean unexplained = state == State.STARTING && reason.isEmpty();
        if (reason.isEmpty() || state == State.FOREIGN) {
            reason = why;
        }
        if (state == State.READY) {
            countFailure(nowNs);
        } else if (state == State.STARTING) {
            failures++;
        }
        boolean was = state == State.READY || state == State.RESTARTING || unexplained && failures < MOST_STARTS;
        state = was ? State.RESTARTING : State.ABSENT;
        long pauseNs = failures == 0 ? 0 : Math.min(LONGEST_PAUSE_NS, FIRST_PAUSE_NS << Math.min(failures - 1, 20));
        deadlineNs = nowNs + pauseNs;
        if (was && pauseNs > LONG_PAUSE_NS) {
            reason += " (" + failures + " times in a row it failed as soon as it was started; it is started again "
                    + pauseNs / 1_000_000_000L + " s later)";
        }
        restarts += was ? 1 : 0;
        clients = new JsonArray();
        windows = new JsonArray();
        turns = new JsonObject();
        memoryBytes = 0;
    }

    /** Returns whether a client that comes now waits for longer than a second, in which case the reason says why. */
    boolean isPausing(long nowNs) {
        return state == State.RESTARTING && running == null && deadlineNs - nowNs > LONG_PAUSE_NS;
    }

    /** Returns its clients, as last reported. */
    JsonArray clients() {
        return clients;
    }

    /**
     * Returns whether it has a client of a tenant, as last reported.
     *
     * @param tenant name as in {@link TenantName}
     * @param own    the manager's user
     */
    boolean has(String tenant, int own) {
        for (JsonElement element : clients) {
            JsonObject client = element.getAsJsonObject();
            int uid = client.has("uid") ? (int) client.get("uid").getAsLong() : own;
            if (TenantName.of(text(client, "tenant"), uid, own).equals(tenant)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether it has a client of a process, as last reported. */
    boolean has(int pid) {
        for (JsonElement client : clients) {
            if (client.getAsJsonObject().get("pid") instanceof JsonPrimitive one && one.getAsInt() == pid) {
                return true;
            }
        }
        return false;
    }

    /** Returns what its programs use of the device, as last reported. */
    ExecutorUse use() {
        List<GpuTimes.ClientWork> work = new ArrayList<>();
        for (JsonElement element : clients) {
            JsonObject client = element.getAsJsonObject();
            work.add(new GpuTimes.ClientWork(number(client, "pid"), 0, 0, 0, number(client, "heldNs")));
        }
        long takenBytes = 0;
        for (JsonElement element : windows) {
            JsonObject window = element.getAsJsonObject();
            long heldBytes = number(window, "committedBytes") + number(window, "sinkBytes");
            takenBytes += Math.max(heldBytes, Math.min(number(window, "quotaBytes"), totalBytes));
        }
        return new ExecutorUse(clients.size(), Math.max(takenBytes, memoryBytes), work);
    }

    private static long number(JsonObject said, String name) {
        return said.get(name) instanceof JsonPrimitive one && one.isNumber() ? one.getAsLong() : 0;
    }

    long totalBytes() {
        return totalBytes;
    }

    DeviceUuid uuid() {
        return uuid;
    }

    boolean software() {
        return software;
    }

    /**
     * Returns its part of {@code status} (SPEC.md, section 8).
     *
     * @param registered returns this manager's number for the client of a pid; 0: it has not registered here
     */
    JsonObject json(IntToLongFunction registered) {
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
            if (!rootBecause.isEmpty()) {
                json.addProperty("rootBecause", rootBecause);
            }
        }
        json.addProperty("usedBytes", sum(clients, "usedBytes"));
        json.addProperty("restarts", restarts);
        if (!reason.isEmpty()) {
            json.addProperty("reason", reason);
        }
        if (!turns.isEmpty()) {
            json.add("turns", turns);
        }
        json.add("clients", present(registered));
        JsonArray shown = state == State.READY ? WindowTable.windows(socket, uuid.toString(), windows) : windows;
        if (!shown.isEmpty()) {
            json.add("windows", shown);
        }
        return json;
    }

    /** Returns the clients under the numbers that they have with this manager: they may have come to the executor under those of a former one. */
    private JsonArray present(IntToLongFunction registered) {
        JsonArray present = new JsonArray();
        for (JsonElement client : clients) {
            JsonObject shown = client.getAsJsonObject().deepCopy();
            if (shown.has("pid")) {
                long id = registered.applyAsLong(shown.get("pid").getAsInt());
                shown.addProperty("client", id);
            }
            showTerms(shown);
            present.add(shown);
        }
        return present;
    }

    /** Shows the settings of a client's tenant in the form that {@code status} uses everywhere. */
    private static void showTerms(JsonObject client) {
        if (client.remove("terms") instanceof JsonPrimitive said) {
            TenantTerms terms = TermsText.parse(said.getAsString());
            if (!terms.equals(TenantTerms.DEFAULT)) {
                client.add("terms", TermsJson.of(terms));
            }
        }
    }
}
