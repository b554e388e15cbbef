package io.tessera.executor.part;

import io.tessera.clock.NanoClock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Looks at what clients have on the device and says on which part of the processors each runs, on a thread of its own. With one tenant there is
 * nothing to decide, and the thread sleeps. Thread-safe.
 */
public final class PartKeeper implements AutoCloseable {
    /** From one look to the next: a request of a small model takes 1 ms and more. */
    private static final long LOOK_NS = 1_000_000L;
    private static final long ALONE_NS = 50_000_000L;
    /** More tenants than a device serves; the manager says again, each second, what one that is here lacks. */
    private static final int MOST_NAMES = 4096;

    private final ProcessorParts parts;
    private final NanoClock clock;
    private final ReserveChooser chooser = new ReserveChooser();
    private final Map<String, Known> tenants = new HashMap<>();
    private final Set<String> interactive = new HashSet<>();
    private volatile boolean ending;
    private final Thread thread;

    private static final class Known {
        private final ReserveChooser.Tenant tenant;
        private final List<ClientPart> clients = new ArrayList<>();

        private Known(ReserveChooser.Tenant tenant) {
            this.tenant = tenant;
        }
    }

    /** With nobody; begins. */
    public PartKeeper(ProcessorParts parts, NanoClock clock) {
        this.parts = parts;
        this.clock = clock;
        this.thread = Thread.ofPlatform().name("parts").daemon().start(this::run);
    }

    /** A client comes. */
    public synchronized ClientPart join(String tenant) {
        Known known = tenants.computeIfAbsent(tenant, _ -> new Known(chooser.join()));
        known.tenant.interactive(interactive.contains(tenant));
        ClientPart client = new ClientPart(tenant, this::leave);
        known.clients.add(client);
        LockSupport.unpark(thread);
        return client;
    }

    private synchronized void leave(ClientPart client) {
        Known known = tenants.get(client.tenant());
        if (known != null && known.clients.remove(client) && known.clients.isEmpty()) {
            chooser.leave(known.tenant);
            tenants.remove(client.tenant());
            interactive.remove(client.tenant()); // the manager says it again before the next program of the tenant comes
        }
    }

    /** An operator says whether somebody waits for each of a tenant's requests. */
    public synchronized void interactive(String tenant, boolean now) {
        if (!now) {
            interactive.remove(tenant);
        } else if (interactive.size() < MOST_NAMES) {
            interactive.add(tenant);
        }
        Known known = tenants.get(tenant);
        if (known != null) {
            known.tenant.interactive(now);
        }
    }

    /** Whether an operator said so of a client's tenant. */
    public synchronized boolean isInteractive(ClientPart client) {
        return interactive.contains(client.tenant());
    }

    /** How many processors kernels of a client run on; 0: the device's are not divided. */
    public int processors(ClientPart client) {
        return parts.processors(client.part());
    }

    /** How many processors there are; 0: they are not divided. */
    public int processors() {
        return parts.processors(ProcessorParts.WHOLE);
    }

    private void run() {
        while (!ending) {
            LockSupport.parkNanos(look() ? LOOK_NS : ALONE_NS);
        }
    }

    /** Whether there is more than one tenant. */
    private synchronized boolean look() {
        long nowNs = clock.nanoTime();
        for (Known known : tenants.values()) {
            boolean busy = false;
            boolean full = false;
            for (ClientPart client : known.clients) {
                busy |= client.isBusy();
                full |= client.isFull();
            }
            chooser.saw(known.tenant, busy, full, nowNs);
        }
        chooser.decide(nowNs);
        for (Known known : tenants.values()) {
            int part = parts.isAvailable() ? known.tenant.part() : ProcessorParts.WHOLE;
            boolean beside = chooser.isBesideOthers(known.tenant, nowNs);
            for (ClientPart client : known.clients) {
                client.decided(part, beside);
            }
        }
        return tenants.size() > 1;
    }

    @Override
    public void close() {
        ending = true;
        LockSupport.unpark(thread);
    }
}
