package io.tessera.manager.executors;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.conductor.ConductorProxy;
import io.tessera.manager.session.Session;
import io.tessera.os.LinuxException;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.FenceWish;
import io.tessera.protocol.RelayAnswer;
import io.tessera.protocol.RelayToken;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All executors of this manager and the clients that wait for them. The first client that asks has the first device's
 * executor started, which says how many devices there are; then the others are started. One owner thread; what executors
 * say comes to it over the proxy.
 */
public final class Executors implements Conductor.Timed {
    private static final int MOST_LIMITS = 100_000;
    private static final Logger LOG = LoggerFactory.getLogger(Executors.class);

    private final ExecutorKind kind;
    private final FenceRules fences;
    private final ExecutorLauncher launcher;
    private final Path directory;
    private final ConductorProxy proxy;
    private final List<ExecutorSlot> slots = new ArrayList<>();
    private final Map<Session, FenceWish> waiting = new LinkedHashMap<>();
    private final Quarantine quarantine = new Quarantine();
    /** Limits that were set while tenants ran, in bytes. */
    private final Map<String, Long> limits = new HashMap<>();
    private boolean closed;

    /**
     * None is started.
     *
     * @param fences    how tenants are fenced
     * @param directory where their sockets and logs lie
     */
    public Executors(ExecutorKind kind, FenceRules fences, ExecutorLauncher launcher, Path directory,
            ConductorProxy proxy) {
        this.kind = kind;
        this.fences = fences;
        this.launcher = launcher;
        this.directory = directory;
        this.proxy = proxy;
    }

    /** A client asks which executors serve it; it is answered when they are ready, or cannot be. */
    public void ask(Session session, FenceWish wish, long nowNs) {
        if (kind == ExecutorKind.NONE) {
            session.answerRelay(List.of(RelayAnswer.none("this manager starts no executors (--executors none)")));
            return;
        }
        long outNs = quarantine.leftNs(session.hello().tenant(), nowNs);
        if (outNs > 0) {
            session.answerRelay(List.of(RelayAnswer.none("kernels of tenant \"" + session.hello().tenant()
                    + "\" ended the executor for all; try again in " + (outNs / 1_000_000_000L + 1) + " s")));
            return;
        }
        waiting.put(session, wish);
        if (slots.isEmpty()) {
            add(0, nowNs);
        } else {
            slots.stream().filter(slot -> slot.state == ExecutorSlot.State.ABSENT && slot.deadlineNs <= nowNs)
                    .forEach(slot -> start(slot, nowNs));
        }
        answerIfSettled();
    }

    /** A client is gone. */
    public void ended(Session session) {
        waiting.remove(session);
    }

    private void add(int ordinal, long nowNs) {
        ExecutorSlot slot = new ExecutorSlot(ordinal, directory.resolve("executor-" + ordinal + ".sock"));
        slots.add(slot);
        start(slot, nowNs);
    }

    private void start(ExecutorSlot slot, long nowNs) {
        int generation = slot.generation + 1;
        slot.reason = "";
        slot.start(launcher, new ExecutorLauncher.Listener() {
            @Override
            public void said(JsonObject line) {
                offer(slot, generation, now -> Executors.this.said(slot, line, now));
            }

            @Override
            public void ended(int exitCode) {
                offer(slot, generation, now -> {
                    LOG.warn("executor {} ended with code {}{}", slot.ordinal, exitCode,
                            slot.reason.isEmpty() ? "" : ": " + slot.reason);
                    slot.died("it ended with code " + exitCode, now);
                    answerIfSettled();
                });
            }
        }, nowNs);
        LOG.info("executor {} is started", slot.ordinal);
    }

    /** Something to do with the time of the cycle. */
    @FunctionalInterface
    private interface Step {
        void at(long nowNs);
    }

    private void offer(ExecutorSlot slot, int generation, Step step) {
        try {
            proxy.offer(nowNs -> {
                if (slot.generation == generation && !closed) {
                    step.at(nowNs);
                }
            });
        } catch (LinuxException e) {
            LOG.error("what an executor says waits for the next cycle: {}", e.getMessage());
        }
    }

    private void said(ExecutorSlot slot, JsonObject line, long nowNs) {
        try {
            if (line.get("ready") instanceof JsonObject ready) {
                slot.ready(ready, nowNs);
                LOG.info("executor {} is ready: {}", slot.ordinal, ready);
                for (int ordinal = slots.size(); slot.ordinal == 0 && ordinal < slot.count; ordinal++) {
                    add(ordinal, nowNs);
                }
                answerIfSettled();
            } else if (line.get("failed") instanceof JsonObject failed) {
                slot.failing(failed.get("reason").getAsString(), nowNs);
                if (failed.get("tenant") instanceof JsonPrimitive tenant) {
                    LOG.warn("tenant \"{}\" ended executor {} for all", tenant.getAsString(), slot.ordinal);
                    quarantine.add(tenant.getAsString(), nowNs);
                }
            } else if (line.get("stats") instanceof JsonObject stats) {
                slot.stats(stats);
            }
        } catch (RuntimeException e) {
            LOG.warn("executor {} says what this manager does not understand: {} ({})", slot.ordinal, line,
                    e.toString());
        }
    }

    /** Answers those who wait, once no executor is still on its way. */
    private void answerIfSettled() {
        boolean settled = slots.stream().noneMatch(slot -> slot.state == ExecutorSlot.State.STARTING
                || slot.state == ExecutorSlot.State.RESTARTING);
        if (!settled) {
            return;
        }
        Map<Session, FenceWish> asked = new LinkedHashMap<>(waiting);
        waiting.clear();
        asked.forEach(this::answer);
    }

    private void answer(Session session, FenceWish wish) {
        List<ExecutorSlot> ready = slots.stream().filter(slot -> slot.state == ExecutorSlot.State.READY).toList();
        if (ready.isEmpty()) {
            session.answerRelay(List.of(RelayAnswer.none(slots.getFirst().reason)));
            return;
        }
        List<RelayAnswer> answers = new ArrayList<>();
        for (int device = 0; device < ready.size(); device++) {
            ExecutorSlot slot = ready.get(device);
            RelayToken token = RelayToken.create();
            slot.running.tell(admission(session, wish, token));
            answers.add(new RelayAnswer(device, ready.size(), slot.software(), slot.uuid(), token,
                    slot.socket.toString(), ""));
        }
        session.answerRelay(answers);
    }

    private JsonObject admission(Session session, FenceWish wish, RelayToken token) {
        JsonObject client = new JsonObject();
        client.addProperty("token", token.hex());
        client.addProperty("client", session.clientId());
        client.addProperty("pid", session.peer().pid());
        client.addProperty("uid", Integer.toUnsignedLong(session.peer().uid()));
        client.addProperty("tenant", session.hello().tenant());
        client.addProperty("limitBytes", limits.getOrDefault(session.hello().tenant(),
                Math.max(0, session.hello().limitBytes())));
        fences.announce(client, wish);
        JsonObject line = new JsonObject();
        line.add("admit", client);
        return line;
    }

    @Override
    public int doWork(long nowNs) {
        int work = 0;
        for (ExecutorSlot slot : slots) {
            if (slot.deadlineNs > nowNs) {
                continue;
            }
            if (slot.state == ExecutorSlot.State.STARTING) {
                LOG.error("executor {} is not ready after {} s and is ended", slot.ordinal,
                        ExecutorSlot.READY_NS / 1_000_000_000L);
                slot.reason = "the executor was not ready in time; its log lies beside its socket";
                slot.deadlineNs = Long.MAX_VALUE;
                slot.running.kill();
                work++;
            } else if (slot.state == ExecutorSlot.State.RESTARTING) {
                start(slot, nowNs);
                work++;
            } else {
                slot.deadlineNs = Long.MIN_VALUE; // may be started when somebody asks
            }
        }
        return work;
    }

    @Override
    public long nextDeadlineNs() {
        long next = Long.MAX_VALUE;
        for (ExecutorSlot slot : slots) {
            if (slot.deadlineNs != Long.MIN_VALUE) {
                next = Math.min(next, slot.deadlineNs);
            }
        }
        return next;
    }

    /** What executors hold of a device, as they last said; 0 where none runs. */
    public long memoryBytes(DeviceUuid device) {
        return slots.stream().filter(slot -> slot.uuid().equals(device)).mapToLong(ExecutorSlot::memoryBytes).sum();
    }

    /** The executors of {@code status}. */
    public JsonArray status() {
        JsonArray all = new JsonArray();
        slots.forEach(slot -> all.add(slot.json()));
        return all;
    }

    /**
     * Sets the device memory that a tenant may use on each device, in whatever executors it is and will be.
     *
     * @param bytes 0: no limit
     */
    public void limit(String tenant, long bytes) {
        if (limits.size() < MOST_LIMITS || limits.containsKey(tenant)) {
            limits.put(tenant, bytes);
        }
        JsonObject limit = new JsonObject();
        limit.addProperty("tenant", tenant);
        limit.addProperty("limitBytes", bytes);
        JsonObject line = new JsonObject();
        line.add("limit", limit);
        slots.stream().filter(slot -> slot.running != null).forEach(slot -> slot.running.tell(line));
    }

    /** Has all executors end. */
    public void close() {
        closed = true;
        for (ExecutorSlot slot : slots) {
            if (slot.running != null) {
                slot.running.stop();
            }
        }
    }
}
