package io.tessera.manager.executors;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.tessera.manager.admission.SpaceDevices;
import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.conductor.ConductorProxy;
import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.schedule.DeviceScheduler;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.session.Session;
import io.tessera.os.LinuxException;
import io.tessera.os.ProcessPort;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.ExecutorSockets;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.RelayAnswer;
import io.tessera.protocol.message.RelayToken;
import io.tessera.protocol.message.TenantName;
import io.tessera.protocol.segment.SegmentLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.IntToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All executors of this manager and the clients that wait for them. The first client that asks starts the first device's executor, which reports how
 * many devices there are; then the others are started. One owner thread; what executors say reaches it over the proxy.
 */
public final class Executors implements Conductor.Timed {
    private static final int MOST_LIMITS = 100_000;
    /** A manager that did not run for this long has received nothing meanwhile, so the executors' silence counts from now. */
    private static final long SLEPT_NS = 1_000_000_000L;
    private static final String NO_EXECUTORS = "this manager starts no executors (--executors none)";
    private static final Logger LOG = LoggerFactory.getLogger(Executors.class);

    private final ExecutorKind kind;
    private final FencePolicy fences;
    private final ExecutorLauncher launcher;
    private final Path directory;
    private final ConductorProxy proxy;
    private final TenantOrders orders;
    private final List<ExecutorSlot> slots = new ArrayList<>();
    private final ExecutorUses uses = new ExecutorUses(slots);
    private final ProcessPort processes;
    private final Map<Session, FenceWish> waiting = new LinkedHashMap<>();
    /** Those waiting clients that were told why they wait. */
    private final Set<Session> told = new HashSet<>();
    private final Quarantine quarantine = new Quarantine();
    /** Limits that were set while tenants ran, in bytes. */
    private final Map<String, Long> limits = new HashMap<>();
    private long workedNs;
    /** Whether executors are no longer started. */
    private boolean stopping;
    private boolean closed;

    /**
     * Creates the set without starting an executor.
     *
     * @param fences    rules for the tenants' fences
     * @param directory folder of their sockets and logs
     * @param terms     returns the terms of a tenant
     * @param sharing   returns how a device is to be shared
     */
    public Executors(ExecutorKind kind, FencePolicy fences, ExecutorLauncher launcher, Path directory,
            ProcessPort processes, ConductorProxy proxy, Function<String, TenantTerms> terms,
            Function<DeviceUuid, DeviceSharing> sharing) {
        this.orders = new TenantOrders(terms, sharing, processes.uid());
        this.processes = processes;
        this.kind = kind;
        this.fences = fences;
        this.launcher = launcher;
        this.directory = directory;
        this.proxy = proxy;
    }

    /** Takes over the executors that a former manager of this directory left running. */
    public void adopt(long nowNs) {
        for (int ordinal = 0; ordinal < SegmentLayout.MAX_DEVICES; ordinal++) {
            ExecutorSlot slot = new ExecutorSlot(ordinal, ExecutorSockets.ofClients(directory, ordinal));
            if (slot.adopt(launcher, listener(slot, slot.generation + 1), nowNs)) {
                while (slots.size() < ordinal) {
                    slots.add(absent(slots.size()));
                }
                slots.add(slot);
                LOG.info("executor {} (pid {}) lives and is taken over", ordinal, slot.running.pid());
            }
        }
    }

    /** Creates an executor's slot, to be started when a client asks. */
    private ExecutorSlot absent(int ordinal) {
        ExecutorSlot slot = new ExecutorSlot(ordinal, ExecutorSockets.ofClients(directory, ordinal));
        slot.deadlineNs = Long.MIN_VALUE;
        return slot;
    }

    /** Handles a client's question which executors serve it; the answer comes when they are ready, or cannot be. */
    public void ask(Session session, FenceWish wish, long nowNs) {
        if (kind == ExecutorKind.NONE) {
            session.answerRelay(List.of(RelayAnswer.none(NO_EXECUTORS)));
            return;
        }
        long outNs = quarantine.leftNs(tenantOf(session), nowNs);
        if (outNs > 0) {
            session.answerRelay(List.of(RelayAnswer.none("kernels of tenant \"" + session.hello().tenant()
                    + "\" ended the executor for all; try again in " + (outNs / 1_000_000_000L + 1) + " s")));
            return;
        }
        waiting.put(session, wish);
        startAbsent(nowNs);
        answerIfSettled(nowNs);
    }

    private void startAbsent(long nowNs) {
        if (slots.isEmpty()) {
            add(0, nowNs);
        } else {
            slots.stream().filter(slot -> slot.state == ExecutorSlot.State.ABSENT && slot.deadlineNs <= nowNs)
                    .forEach(slot -> start(slot, nowNs));
        }
    }

    /** Returns the devices that programs see here; starts executors that do not run yet. */
    public SpaceDevices devices(long nowNs) {
        if (kind == ExecutorKind.NONE) {
            return new SpaceDevices(true, false, List.of(), NO_EXECUTORS);
        }
        if (!stopping) {
            startAbsent(nowNs);
        }
        return uses.devices();
    }

    /** Returns the use of their devices. */
    public ExecutorUses uses() {
        return uses;
    }

    /** Returns whether kernels of a user's tenant have recently ended an executor. */
    public boolean isQuarantined(String label, int uid, long nowNs) {
        return quarantine.leftNs(TenantName.of(label, uid, processes.uid()), nowNs) > 0;
    }

    /** Removes a client that is gone. */
    public void ended(Session session) {
        waiting.remove(session);
        told.remove(session);
    }

    private void add(int ordinal, long nowNs) {
        ExecutorSlot slot = absent(ordinal);
        slots.add(slot);
        start(slot, nowNs);
    }

    private void start(ExecutorSlot slot, long nowNs) {
        slot.reason = "";
        if (slot.adopt(launcher, listener(slot, slot.generation + 1), nowNs)) {
            LOG.info("executor {} (pid {}) lives after all and is taken over", slot.ordinal, slot.running.pid());
            return;
        }
        slot.start(launcher, listener(slot, slot.generation + 1), nowNs);
        LOG.info("executor {} is started", slot.ordinal);
    }

    private ExecutorLauncher.Listener listener(ExecutorSlot slot, int generation) {
        return new ExecutorLauncher.Listener() {
            @Override
            public void said(JsonObject line) {
                offer(slot, generation, now -> Executors.this.said(slot, line, now));
            }

            @Override
            public void ended(int exitCode) {
                offer(slot, generation, now -> Executors.this.ended(slot, exitCode, now));
            }
        };
    }

    private void ended(ExecutorSlot slot, int exitCode, long nowNs) {
        String how = slot.adopted ? "it ended" : "it ended with code " + exitCode;
        if (exitCode == 0 || slot.state == ExecutorSlot.State.FOREIGN) {
            LOG.info("executor {} has ended", slot.ordinal);
        } else {
            LOG.warn("executor {} ended{}{}", slot.ordinal, slot.adopted ? "" : " with code " + exitCode,
                    slot.reason.isEmpty() ? "" : ": " + slot.reason);
        }
        slot.died(how, nowNs);
        answerIfSettled(nowNs);
    }

    /** A step that needs the time of the cycle. */
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
        slot.lateness.heard(nowNs);
        if (slot.state == ExecutorSlot.State.FOREIGN) {
            return;
        }
        try {
            if (line.get("executor") instanceof JsonObject executor) {
                met(slot, executor.get("version").getAsLong(), nowNs);
            } else if (line.get("limit") instanceof JsonObject limit) {
                keep(limit.get("tenant").getAsString(), limit.get("limitBytes").getAsLong(), false);
            } else if (line.get("ready") instanceof JsonObject ready) {
                slot.ready(ready, nowNs);
                limits.forEach((tenant, bytes) -> slot.running.tell(ExecutorCommands.limit(tenant, bytes)));
                orders.ready(slot);
                LOG.info("executor {} is ready: {}", slot.ordinal, ready);
                for (int ordinal = slots.size(); slot.ordinal == 0 && ordinal < slot.count; ordinal++) {
                    add(ordinal, nowNs);
                }
                answerIfSettled(nowNs);
            } else if (line.get("failed") instanceof JsonObject failed) {
                slot.failing(failed.get("reason").getAsString(), nowNs);
                if (failed.get("tenant") instanceof JsonPrimitive tenant) {
                    LOG.warn("tenant \"{}\" ended executor {} for all", tenant.getAsString(), slot.ordinal);
                    quarantine.add(tenant.getAsString(), nowNs);
                }
            } else if (line.get("stats") instanceof JsonObject stats) {
                slot.stats(stats);
                orders.align(slot);
            }
        } catch (RuntimeException e) {
            LOG.warn("executor {} says what this manager does not understand: {} ({})", slot.ordinal, line,
                    e.toString());
        }
    }

    private void met(ExecutorSlot slot, long version, long nowNs) {
        if (version != ExecutorSockets.VERSION) {
            slot.foreign(version);
            LOG.warn("{}", slot.reason);
            answerIfSettled(nowNs);
        }
    }

    /** Answers the waiting clients once no executor is starting. */
    private void answerIfSettled(long nowNs) {
        if (!uses.isSettled()) {
            slots.stream().filter(slot -> slot.isPausing(nowNs)).findFirst().ifPresent(slot -> waiting.keySet().stream()
                    .filter(told::add).forEach(session -> session.answerRelay(List.of(RelayAnswer.wait(slot.reason)))));
            return;
        }
        told.clear();
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
            String tenant = tenantOf(session);
            orders.comes(slot, tenant);
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
        client.addProperty("limitBytes", limits.getOrDefault(tenantOf(session),
                Math.max(0, session.hello().limitBytes())));
        fences.announce(client, wish);
        return ExecutorCommands.admit(client);
    }

    @Override
    public int doWork(long nowNs) {
        int work = 0;
        boolean slept = nowNs - workedNs > SLEPT_NS;
        workedNs = nowNs;
        for (ExecutorSlot slot : slots) {
            work += slot.running == null ? 0 : lookAfter(slot, slept, nowNs);
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
            } else if (slot.state == ExecutorSlot.State.RESTARTING && !stopping) {
                start(slot, nowNs);
                work++;
            } else {
                slot.deadlineNs = Long.MIN_VALUE; // may be started when a client asks
            }
        }
        return work;
    }

    /** Ends an executor that is silent and will stay so; its end starts the next one. */
    private int lookAfter(ExecutorSlot slot, boolean slept, long nowNs) {
        if (slept) {
            slot.lateness.heard(nowNs);
        }
        ExecutorLauncher.Running running = slot.running;
        String verdict = slot.lateness.verdict(() -> processes.activity((int) running.pid()), nowNs);
        if (verdict == null || slot.state == ExecutorSlot.State.FOREIGN) {
            return 0;
        }
        LOG.error("executor {} (pid {}) is ended: {}", slot.ordinal, running.pid(), verdict);
        slot.reason = verdict;
        slot.lateness.heard(nowNs);
        running.kill();
        return 1;
    }

    @Override
    public long nextDeadlineNs() {
        long next = Long.MAX_VALUE;
        for (ExecutorSlot slot : slots) {
            if (slot.running != null) {
                next = Math.min(next, slot.lateness.nextLookNs());
            }
            if (slot.deadlineNs != Long.MIN_VALUE) {
                next = Math.min(next, slot.deadlineNs);
            }
        }
        return next;
    }

    /**
     * Returns the executors for {@code status}.
     *
     * @param registered returns this manager's number for the client of a pid; 0: it has not registered here
     */
    public JsonArray status(IntToLongFunction registered) {
        JsonArray all = new JsonArray();
        slots.forEach(slot -> all.add(slot.json(registered)));
        return all;
    }

    /**
     * Sets the device memory that a tenant may use on each device, in all present and future executors.
     *
     * @param bytes 0: no limit
     */
    public void limit(String tenant, long bytes) {
        keep(tenant, bytes, true);
        slots.stream().filter(slot -> slot.state == ExecutorSlot.State.READY)
                .forEach(slot -> slot.running.tell(ExecutorCommands.limit(tenant, bytes)));
    }

    /**
     * Makes a tenant's memory leave every executor's device until the tenant's next call, or come back.
     *
     * @return the number of executors that the tenant is in
     */
    public int park(String tenant, boolean away) {
        List<ExecutorSlot> told = serving(tenant);
        told.forEach(slot -> slot.running.tell(ExecutorCommands.park(tenant, away)));
        return told.size();
    }

    /** Returns whether a tenant has a client in an executor, as last reported. */
    public boolean serves(String tenant) {
        return slots.stream().anyMatch(slot -> slot.has(tenant, processes.uid()));
    }

    private List<ExecutorSlot> serving(String tenant) {
        return slots.stream().filter(slot -> slot.state == ExecutorSlot.State.READY && slot.has(tenant, processes.uid())).toList();
    }

    /** Sends the changed terms of a tenant to its executors. */
    public void termsChanged(String tenant) {
        serving(tenant).forEach(slot -> orders.tellTerms(slot, tenant));
    }

    /** Sends changed settings of sharing to the executors. */
    public void sharingChanged() {
        slots.stream().filter(slot -> slot.state == ExecutorSlot.State.READY).forEach(orders::tellSharing);
    }

    /** Returns the policies of the executors that a tenant is in. */
    public Set<PolicyName> policiesOf(String tenant) {
        Set<PolicyName> policies = EnumSet.noneOf(PolicyName.class);
        serving(tenant).forEach(slot -> policies.add(orders.sharingOf(slot).policy()));
        return policies;
    }

    /** Returns why a tenant's settings do not hold in executors that it is in. */
    public Set<String> notKept(String tenant) {
        Set<String> reasons = new TreeSet<>();
        if (orders.needsTurns(tenant)) {
            serving(tenant).stream().filter(slot -> orders.sharingOf(slot).mode() == SchedulerMode.OFF)
                    .forEach(slot -> reasons.add(slot.uuid() + ": set to off" + DeviceScheduler.NOT_KEPT));
        }
        return reasons;
    }

    private String tenantOf(Session session) {
        return TenantName.of(session.hello().tenant(), session.peer().uid(), processes.uid());
    }

    /** Keeps a limit. Limits that were set here have precedence over those that executors report from a former manager. */
    private void keep(String tenant, long bytes, boolean here) {
        if (limits.containsKey(tenant) ? here : limits.size() < MOST_LIMITS) {
            limits.put(tenant, bytes);
        }
    }

    /** Ends all executors, and with them what runs in them. */
    public void stop() {
        stopping = true;
        for (ExecutorSlot slot : slots) {
            if (slot.state == ExecutorSlot.State.FOREIGN) {
                slot.running.terminate();
            } else if (slot.running != null) {
                slot.running.tell(ExecutorCommands.stop());
            }
        }
    }

    /** Returns whether an executor runs. */
    public boolean isRunning() {
        return slots.stream().anyMatch(slot -> slot.running != null);
    }

    /** Ends at once the executors that still run. */
    public void kill() {
        slots.stream().filter(slot -> slot.running != null).forEach(slot -> slot.running.kill());
    }

    /** Parts from all executors: those that have clients continue, the others end. */
    public void close() {
        closed = true;
        for (ExecutorSlot slot : slots) {
            if (slot.running == null) {
                continue;
            }
            if (slot.state == ExecutorSlot.State.STARTING && !slot.adopted) {
                slot.running.kill(); // no later manager would know of it
                continue;
            }
            if (slot.state != ExecutorSlot.State.FOREIGN) {
                slot.running.tell(ExecutorCommands.leave());
            }
            slot.running.part();
        }
    }
}
