package io.tessera.executor.part;

import io.tessera.clock.NanoClock;
import io.tessera.executor.turn.SubmissionGate;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Observes the clients' work on the device and assigns each a part of the processors, on a thread of its own, which also drives the turns. With one tenant
 * there is nothing to decide, and the thread mostly sleeps. Thread-safe.
 */
public final class PartKeeper implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PartKeeper.class);
    /** Interval at which clients are observed: a request of a small model takes at least 1 ms. */
    private static final long LOOK_NS = 1_000_000L;
    private static final long ALONE_NS = 50_000_000L;

    private final ProcessorParts parts;
    private final NanoClock clock;
    private final ReserveChooser chooser = new ReserveChooser();
    private final StopOrder stops = new StopOrder();
    private final Map<String, Known> tenants = new HashMap<>();
    private final SubmissionGate gate;
    private volatile boolean ending;
    /** Whether a failure was logged. */
    private boolean failed;
    private final Thread thread;

    private static final class Known {
        private final ReserveChooser.Tenant tenant;
        private final List<ClientPart> clients = new ArrayList<>();
        private TenantTerms terms;
        private boolean busy;

        private Known(ReserveChooser.Tenant tenant) {
            this.tenant = tenant;
        }

        private void terms(TenantTerms newTerms) {
            terms = newTerms;
            tenant.interactive(isInteractive());
        }

        private boolean isInteractive() {
            return terms.tenantClass() == TenantClass.INTERACTIVE;
        }
    }

    /** Creates a keeper without clients, and starts its thread. */
    public PartKeeper(ProcessorParts parts, NanoClock clock) {
        this.parts = parts;
        this.clock = clock;
        this.gate = new SubmissionGate(clock);
        this.thread = Thread.ofPlatform().name("parts").daemon().start(this::run);
    }

    /** Adds a client. */
    public synchronized ClientPart join(String tenant) {
        Known known = tenants.computeIfAbsent(tenant, _ -> new Known(chooser.join()));
        known.terms(gate.termsOf(tenant));
        ClientPart client = new ClientPart(tenant, gate.join(tenant), this::leave);
        known.clients.add(client);
        LockSupport.unpark(thread);
        return client;
    }

    private synchronized void leave(ClientPart client) {
        Known known = tenants.get(client.tenant());
        if (known != null && known.clients.remove(client) && known.clients.isEmpty()) {
            chooser.leave(known.tenant);
            tenants.remove(client.tenant());
        }
    }

    /** Changes a tenant's terms, also of a tenant without clients. */
    public synchronized void terms(String tenant, TenantTerms terms) {
        gate.terms(tenant, terms);
        Known known = tenants.get(tenant);
        if (known != null) {
            known.terms(gate.termsOf(tenant));
            LockSupport.unpark(thread);
        }
    }

    /** Returns the gate that holds submissions back, and the GPU time of each client. */
    public SubmissionGate gate() {
        return gate;
    }

    /** Returns on how many processors a client's kernels run; 0: the device's processors are not divided. */
    public int processors(ClientPart client) {
        return parts.processors(client.part());
    }

    /** Returns the number of processors; 0: they are not divided. */
    public int processors() {
        return parts.processors(ProcessorParts.WHOLE);
    }

    private void run() {
        while (!ending) {
            LockSupport.parkNanos(lookSafely() ? LOOK_NS : ALONE_NS);
        }
    }

    /** Observes the clients, and survives any failure: without these observations no turn ends. */
    private boolean lookSafely() {
        try {
            return look();
        } catch (RuntimeException e) {
            if (!failed) {
                failed = true;
                LOG.error("a look at what clients have on the device failed; the next ones go on", e);
            }
            return true;
        }
    }

    /** Returns whether there is more than one tenant, or a cap to keep. */
    private synchronized boolean look() {
        long nowNs = clock.nanoTime();
        gate.look(nowNs);
        for (Known known : tenants.values()) {
            boolean busy = false;
            boolean full = false;
            for (ClientPart client : known.clients) {
                busy |= client.isBusy();
                full |= client.isFull();
            }
            known.busy = busy;
            chooser.saw(known.tenant, busy, full, nowNs);
        }
        chooser.decide(nowNs);
        boolean interactive = tenants.values().stream().anyMatch(each -> each.busy && each.isInteractive());
        Set<ClientPart> stopping = stops.look(interactive, running(), nowNs);
        for (Known known : tenants.values()) {
            // The holder of the turn has all processors.
            int part = parts.isAvailable() && !gate.isActive() ? known.tenant.part() : ProcessorParts.WHOLE;
            boolean beside = chooser.isBesideOthers(known.tenant, nowNs);
            for (ClientPart client : known.clients) {
                client.decided(part, beside);
                client.decided(known.terms.replayable(), interactive && !known.isInteractive(), stopping.contains(client));
            }
        }
        return tenants.size() > 1 || gate.isActive();
    }

    /** Returns the clients with a kernel that can be stopped for an interactive tenant. */
    private List<ClientPart> running() {
        return tenants.values().stream().filter(known -> !known.isInteractive()).flatMap(known -> known.clients.stream())
                .filter(ClientPart::isRunning)
                .toList();
    }

    @Override
    public void close() {
        ending = true;
        LockSupport.unpark(thread);
    }
}
