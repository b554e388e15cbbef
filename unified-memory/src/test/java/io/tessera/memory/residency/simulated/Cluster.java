package io.tessera.memory.residency.simulated;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** One device with its clients and its manager; checks the invariants at all times. */
final class Cluster {
    /** Combined speed of clients that run side by side (h200-measurements.md: they lose 8 to 10 %). */
    private static final double SIDE_BY_SIDE = 0.91;

    private final ClusterSettings settings;
    private final EventQueue queue = new EventQueue();
    private final SimulatedBus bus;
    private final List<SimulatedClient> clients = new ArrayList<>();
    private final Set<SimulatedClient> working = new LinkedHashSet<>();
    private final SimulatedManager manager;
    private final Random random;
    private final List<Long> waitsNs = new ArrayList<>();
    private double speed;

    Cluster(ClusterSettings settings) {
        this.settings = settings;
        this.bus = new SimulatedBus(queue, settings.rates());
        this.manager = new SimulatedManager(this);
        this.random = new Random(settings.seed());
    }

    ClusterSettings settings() {
        return settings;
    }

    EventQueue queue() {
        return queue;
    }

    SimulatedBus bus() {
        return bus;
    }

    SimulatedManager manager() {
        return manager;
    }

    List<SimulatedClient> clients() {
        return clients;
    }

    /** Returns the times from a phase's first call until the gate was open; 0 if it was open. */
    List<Long> waitsNs() {
        return waitsNs;
    }

    /** Starts a program after {@code delayNs}. */
    SimulatedClient start(long delayNs, long guaranteeBytes, Iterator<Phase> phases) {
        long id = clients.size() + 1;
        SimulatedClient client = new SimulatedClient(this, id, "tenant" + id, guaranteeBytes, phases,
                new Random(settings.seed() * 1000 + id));
        clients.add(client);
        queue.after(delayNs, () -> {
            manager.joined(client);
            client.begin();
        });
        return client;
    }

    /** Lets time pass until all programs have ended, or until {@code endNs}; returns whether they have. */
    boolean run(long endNs) {
        while (!clients.stream().allMatch(SimulatedClient::over)) {
            if (!queue.next(endNs)) {
                return false;
            }
        }
        return true;
    }

    long lastEndNs() {
        return clients.stream().mapToLong(SimulatedClient::endedNs).max().orElse(0);
    }

    // What clients report

    void ring() {
        manager.ring();
    }

    void progressed(SwapMemory memory) {
        memory.pump();
        for (SimulatedClient client : clients) {
            if (client.memory == memory) {
                client.progressed();
            }
        }
    }

    void ended(SimulatedClient client) {
        // The manager learns of it a little later; its memory is free at once.
        queue.after(1 + random.nextLong(2_000_000), () -> manager.left(client));
    }

    void works(SimulatedClient client, boolean works) {
        for (SimulatedClient runner : working) {
            runner.ranAt(speed);
        }
        if (works) {
            working.add(client);
        } else {
            working.remove(client);
        }
        speed = working.size() <= 1 ? 1 : SIDE_BY_SIDE / working.size();
        for (SimulatedClient runner : working) {
            runner.runAt(speed);
        }
    }

    /** Checks that no more memory is held than there is. */
    void checkCapacity() {
        long heldBytes = settings.fixedBytes();
        for (SimulatedClient client : clients) {
            heldBytes += client.memory.usedBytes();
        }
        if (heldBytes > settings.capacityBytes()) {
            throw new AssertionError(heldBytes + " bytes are held of " + settings.capacityBytes() + ", seed "
                    + settings.seed());
        }
    }
}
