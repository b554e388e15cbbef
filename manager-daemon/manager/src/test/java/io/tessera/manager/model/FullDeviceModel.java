package io.tessera.manager.model;

import com.google.gson.JsonParser;
import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.manager.model.ModelClient.Step;
import io.tessera.manager.schedule.DeviceScheduler;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.os.LinuxException;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.segment.TurnWord;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A whole manager over clients on a device that may have less memory than it reports. Every event is one smallest step of a client or of its
 * environment, after which the manager does its remaining work. Not thread-safe.
 */
final class FullDeviceModel implements AutoCloseable {
    /**
     * Initial state, in chunks.
     *
     * @param needs    needs of the clients
     * @param believed memory that the manager believes the device to have
     * @param real     memory that the device has
     * @param free     part of the rest that the driver nevertheless reports as free
     * @param pinned   host memory
     * @param pageable pageable host memory
     * @param file     size of each client's file
     * @param grows    whether programs allocate and free
     */
    record Situation(List<Integer> needs, int believed, int real, int free, int pinned, int pageable, int file, boolean grows) {
        /** Returns whether the host can certainly hold all: a client's share of two tiers may end within a chunk, which it cannot use. */
        boolean hostIsEnough(List<ModelClient> clients) {
            int shared = clients.stream().mapToInt(client -> Math.max(0, client.neededChunks() - file)).sum();
            return shared + 2 * clients.size() <= pinned + pageable;
        }
    }

    /** An event: a step of a client, or of its environment. */
    record Event(int client, Step step, World world) {
        @Override
        public String toString() {
            return world != null ? client >= 0 ? world + "(" + client + ")" : world.toString() : step + "(" + client + ")";
        }
    }

    /** Events other than the clients' steps. */
    enum World { SOON, LATER, DIES, STOPS, CONTINUES, ANOTHER_TAKES, ANOTHER_GIVES }

    private static final long QUANTUM_NS = 100_000_000L;
    private static final long SOON_MS = 20;
    private static final long LATER_MS = 600;

    /** Time within which all clients have to be served, whatever happened before: several times the longest wait of one. */
    private static final long PATIENCE_MS = 300_000;

    final List<ModelClient> clients = new ArrayList<>();
    private final Situation situation;
    private final ModelDevice device;
    private final SteppedManager stepped;
    private boolean disturbed;
    /** Number of events so far. */
    long steps;

    FullDeviceModel(Situation situation) throws IOException {
        this.situation = situation;
        this.device = new ModelDevice(situation.real(), situation.free());
        long capacity = situation.believed() * ModelDevice.CHUNK;
        ScheduleSettings schedule = ScheduleSettings.defaults().withCapacityBytes(capacity).withQuantumNs(QUANTUM_NS);
        stepped = new SteppedManager(0, context -> context.withCapacityBytes(capacity).withSchedule(schedule)
                .withResidency(context.residency().withCapacityBytes(capacity)
                        .withPinnedBytes(situation.pinned() * ModelDevice.CHUNK)
                        .withPageableBytes(situation.pageable() * ModelDevice.CHUNK)),
                (totalBytes, port, nowNs) -> new DeviceScheduler(schedule.withTotalBytes(totalBytes), port, nowNs));
        int pid = 1;
        for (int need : situation.needs()) {
            InMemoryClient peer = stepped.connect(pid, 500).hello("t" + pid, 0, MemoryPlan.SWAP).device(0, SteppedManager.GPU);
            stepped.step();
            clients.add(new ModelClient(peer, device, need, situation.file()));
            pid++;
        }
        stepped.step();
    }

    /** Returns all events that may happen at some time. */
    List<Event> events(boolean deaths) {
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < clients.size(); i++) {
            for (Step step : Step.values()) {
                if (situation.grows() || step != Step.ALLOCATE && step != Step.FREE) {
                    events.add(new Event(i, step, null));
                }
            }
            if (deaths) {
                events.add(new Event(i, null, World.DIES));
                events.add(new Event(i, null, World.STOPS));
                events.add(new Event(i, null, World.CONTINUES));
            }
        }
        events.add(new Event(-1, null, World.SOON));
        events.add(new Event(-1, null, World.LATER));
        if (deaths) {
            events.add(new Event(-1, null, World.ANOTHER_TAKES));
            events.add(new Event(-1, null, World.ANOTHER_GIVES));
        }
        return events;
    }

    /** Executes an event; returns false if it could not happen, and then nothing has changed. */
    boolean happen(Event event) throws LinuxException {
        boolean happened = event.world() == null ? clients.get(event.client()).step(event.step(), nowNs()) : happen(event.world(), event.client());
        if (happened) {
            steps++;
            stepped.step();
            check();
        }
        return happened;
    }

    private boolean happen(World world, int client) {
        switch (world) {
            case SOON -> stepped.clock.advanceMs(SOON_MS);
            case LATER -> stepped.clock.advanceMs(LATER_MS);
            case DIES -> {
                return clients.get(client).die();
            }
            case STOPS -> {
                return stop(clients.get(client), true);
            }
            case CONTINUES -> {
                return stop(clients.get(client), false);
            }
            case ANOTHER_TAKES -> {
                boolean taken = device.takenByAnother();
                disturbed |= taken;
                return taken;
            }
            default -> {
                return device.givenByAnother();
            }
        }
        return true;
    }

    private boolean stop(ModelClient client, boolean stop) {
        boolean changes = client.stopped != stop && !client.isDead();
        client.stopped = changes ? stop : client.stopped;
        disturbed |= changes;
        return changes;
    }

    private long nowNs() {
        return stepped.clock.nowNs();
    }

    /** Checks the invariants. */
    private void check() {
        long promisedBytes = 0;
        long pinned = 0;
        long pageable = 0;
        int granted = 0;
        int openChunks = 0;
        for (ModelClient client : clients) {
            if (client.isDead()) {
                continue;
            }
            promisedBytes += Math.max(client.peer.residency(0).residentTarget(), client.presentChunks() * ModelDevice.CHUNK);
            pinned += Math.max(client.peer.residency(0).pinnedTarget(), client.peer.residency(0).pinnedHeld());
            pageable += Math.max(client.peer.residency(0).pageableTarget(), client.peer.residency(0).pageableHeld());
            granted += TurnWord.state(client.peer.block(0).turn()) == TurnWord.GRANTED ? 1 : 0;
            openChunks += client.isOpen() ? client.neededChunks() : 0;
        }
        require(promisedBytes <= situation.believed() * ModelDevice.CHUNK, "more is promised than there should be");
        require(openChunks <= device.roomChunks(), "more runs than the device holds");
        require(granted <= 1, "two turns at once");
        require(pinned <= situation.pinned() * ModelDevice.CHUNK, "more pinned memory is promised than there is");
        require(pageable <= situation.pageable() * ModelDevice.CHUNK, "more pageable memory is promised than there is");
    }

    private void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise + ": " + describe());
        }
    }

    /** Lets all clients do all they can from here on: one that wants to run is served, or refused for a reason, within a bound. */
    void everybodyIsServed() throws LinuxException {
        int[] servedBefore = clients.stream().mapToInt(client -> client.served).toArray();
        int[] refusedBefore = clients.stream().mapToInt(client -> client.refused).toArray();
        for (long ms = 0; ms < PATIENCE_MS; ms += ms < 2_000 ? SOON_MS : 5 * SOON_MS) {
            boolean all = true;
            if (clients.stream().anyMatch(ModelClient::keepsTheDevice)) {
                return;
            }
            for (int i = 0; i < clients.size(); i++) {
                ModelClient client = clients.get(i);
                boolean refused = client.refused > refusedBefore[i];
                require(!refused || isRefusedForAReason(client), "client " + i + " was refused what it could have had");
                all &= client.isDead() || client.stopped || client.neededChunks() == 0 || client.served > servedBefore[i] || refused;
            }
            if (all) {
                return;
            }
            doAll();
            stepped.clock.advanceMs(ms < 2_000 ? SOON_MS : 5 * SOON_MS);
            stepped.step();
            check();
        }
        throw new AssertionError("not everybody was served: " + describe());
    }

    private void doAll() throws LinuxException {
        for (ModelClient client : clients) {
            boolean any = true;
            for (int i = 0; i < 4 && any; i++) {
                any = client.step(Step.ANSWER, nowNs());
                any |= client.step(Step.OUT, nowNs());
                any |= client.step(Step.IN, nowNs());
                any |= client.allocates() && client.step(Step.ALLOCATE, nowNs());
                if (any) {
                    steps++;
                    stepped.step();
                    check();
                }
            }
            client.step(Step.SAMPLE, nowNs());
            client.step(Step.WORK, nowNs());
            steps++;
            stepped.step();
        }
    }

    /** Returns whether it needs more than the device has, or others cannot make room because they are stopped or the host is full. */
    private boolean isRefusedForAReason(ModelClient client) {
        return disturbed || situation.grows() || client.neededChunks() > device.roomChunks() || !situation.hostIsEnough(clients);
    }

    /** Returns what distinguishes this state from others, apart from times. */
    String state() {
        StringBuilder state = new StringBuilder().append(device.roomChunks());
        clients.forEach(client -> state.append(' ').append(client.state()));
        return state.toString();
    }

    private String describe() {
        InMemoryClient control = stepped.control(0);
        control.sendRaw("{\"request\":\"status\"}\n".getBytes(StandardCharsets.UTF_8));
        try {
            stepped.step();
        } catch (LinuxException e) {
            return state();
        }
        return state() + " of " + situation + "; " + JsonParser.parseString(control.heardText()).getAsJsonObject().get("devices");
    }

    @Override
    public void close() {
        stepped.close();
    }
}
