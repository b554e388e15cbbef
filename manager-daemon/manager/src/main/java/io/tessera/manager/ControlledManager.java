package io.tessera.manager;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.tessera.clock.Clocks;
import io.tessera.manager.admission.AdmissionAnswer;
import io.tessera.manager.admission.AdmissionQueue;
import io.tessera.manager.admission.AdmissionReport;
import io.tessera.manager.admission.AdmissionWish;
import io.tessera.manager.admission.SpaceDevices;
import io.tessera.manager.conductor.DeviceRegistry;
import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.control.ControlTarget;
import io.tessera.manager.control.StatusReport;
import io.tessera.manager.executors.Executors;
import io.tessera.manager.residency.Eviction;
import io.tessera.manager.residency.Residency;
import io.tessera.manager.residency.ResidencyReport;
import io.tessera.manager.session.Session;
import io.tessera.manager.session.Sessions;
import io.tessera.manager.settings.OrderJournal;
import io.tessera.manager.settings.SettingsWatch;
import io.tessera.os.ProcessPort;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.message.EscapedText;
import io.tessera.protocol.message.TenantName;
import io.tessera.protocol.segment.SegmentLayout;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The manager as the control socket sees it. One owner thread. */
final class ControlledManager implements ControlTarget {
    /** Version in the answer to {@code status}; equal to the version of the project. */
    static final String VERSION = "0.1.0";
    private static final Logger LOG = LoggerFactory.getLogger(ControlledManager.class);

    private final ManagerContext context;
    private final ProcessPort processes;
    private final Sessions sessions;
    private final DeviceRegistry devices;
    private final Executors executors;
    private final Residency residency;
    private final AdmissionQueue admission;
    private final StatusReport report;
    private final SettingsWatch settings;
    private final OrderJournal journal;
    private final Stop stop;
    private final long startedNs;
    private final Instant started;

    /** Ends the manager. */
    @FunctionalInterface
    interface Stop {
        /** Ends it now, or after its programs have ended. */
        void accept(boolean programs, long nowNs);
    }

    ControlledManager(ManagerContext context, ProcessPort processes, Clocks clocks, Sessions sessions,
            DeviceRegistry devices, Executors executors, Residency residency, AdmissionQueue admission, SettingsWatch settings, OrderJournal journal,
            Stop stop) {
        this.context = context;
        this.processes = processes;
        this.sessions = sessions;
        this.devices = devices;
        this.executors = executors;
        this.residency = residency;
        this.admission = admission;
        this.report = new StatusReport(sessions, devices, new ResidencyReport(residency));
        this.settings = settings;
        this.journal = journal;
        this.stop = stop;
        this.startedNs = clocks.monotonic().nanoTime();
        long realtimeNs = clocks.realtime().nanoTime();
        this.started = Instant.ofEpochSecond(realtimeNs / 1_000_000_000L, realtimeNs % 1_000_000_000L);
    }

    @Override
    public JsonObject status(long nowNs) {
        JsonObject manager = new JsonObject();
        manager.addProperty("pid", processes.pid());
        manager.addProperty("version", VERSION);
        manager.addProperty("abi", SegmentLayout.VERSION);
        manager.addProperty("uid", Integer.toUnsignedLong(processes.uid()));
        manager.addProperty("started", started.toString());
        manager.addProperty("runtimeDirectory", context.directory().path().toString());
        manager.addProperty("uptimeNs", nowNs - startedNs);
        manager.addProperty("placement", settings.placement().orElse(context.placement()).text());
        manager.addProperty("prefers", settings.preference().orElse(context.preference()).name().toLowerCase(Locale.ROOT));
        if (settings.isThere() || !settings.problem().isEmpty()) {
            manager.addProperty("settings", settings.file().toString());
        }
        if (!settings.problem().isEmpty()) {
            manager.addProperty("settingsProblem", settings.problem());
        }
        if (!journal.problem().isEmpty()) {
            manager.addProperty("ordersProblem", journal.problem());
        }
        JsonObject status = new JsonObject();
        status.add("manager", manager);
        status.add("devices", report.devices(nowNs));
        status.add("clients", report.clients(nowNs));
        JsonArray served = executors.status(sessions::idOf);
        if (!served.isEmpty()) {
            status.add("executors", served);
        }
        JsonArray waiting = AdmissionReport.of(admission, nowNs);
        if (!waiting.isEmpty()) {
            status.add("waiting", waiting);
        }
        report.host().ifPresent(host -> status.add("host", host));
        return status;
    }

    @Override
    public boolean order(Optional<DeviceUuid> device, DeviceSharing sharing, long nowNs) {
        LOG.info("{} for {}", sharing, device.isEmpty() ? "all devices" : device.get());
        boolean known = devices.order(device, sharing, nowNs);
        if (!known && executors.uses().knows(device.orElseThrow())) {
            devices.orderAhead(device.get(), sharing);
            known = true;
        }
        executors.sharingChanged();
        journal.write();
        return known;
    }

    @Override
    public TenantTerms terms(String tenant) {
        return devices.shares().of(tenant);
    }

    @Override
    public TenantTerms writtenTerms(String tenant) {
        return devices.shares().written(tenant);
    }

    @Override
    public boolean terms(String tenant, TenantTerms terms, boolean whileItRuns, long nowNs) {
        LOG.info("tenant \"{}\" has {}", EscapedText.of(tenant), terms);
        boolean set = devices.terms(tenant, terms, whileItRuns, nowNs);
        executors.termsChanged(tenant);
        journal.write();
        return set;
    }

    @Override
    public boolean takesTurns(String tenant) {
        return sessions.registered().stream()
                .anyMatch(session -> !devices.members(session).isEmpty() && devices.shares().nameOf(session).equals(tenant));
    }

    @Override
    public Set<String> notKept(String tenant, long nowNs) {
        Set<String> reasons = new TreeSet<>(devices.notKept(tenant, nowNs));
        reasons.addAll(executors.notKept(tenant));
        return reasons;
    }

    @Override
    public String ordersProblem() {
        return journal.problem();
    }

    @Override
    public Set<PolicyName> policiesOf(String tenant) {
        Set<PolicyName> policies = executors.policiesOf(tenant);
        if (policies.isEmpty() || takesTurns(tenant)) {
            policies.addAll(devices.policiesOf(tenant));
        }
        return policies;
    }

    @Override
    public boolean limit(String tenant, long bytes) {
        LOG.info("tenant \"{}\" may use {} bytes of each executor's device", EscapedText.of(tenant), bytes == 0 ? "all" : bytes);
        if (!journal.limit(tenant, bytes)) {
            return false;
        }
        journal.write();
        settings.limitOrdered(tenant);
        executors.limit(tenant, bytes);
        return true;
    }

    @Override
    public Eviction evict(String tenant, IntPredicate owners, boolean suspend, long nowNs) {
        LOG.info("tenant \"{}\" is evicted{}", EscapedText.of(tenant), suspend ? " and suspended" : "");
        return residency.evict(tenant, owners, suspend, nowNs);
    }

    @Override
    public int restore(String tenant, IntPredicate owners, long nowNs) {
        LOG.info("tenant \"{}\" is restored", EscapedText.of(tenant));
        return residency.restore(tenant, owners, nowNs);
    }

    @Override
    public int park(String tenant, boolean away) {
        int parked = executors.park(tenant, away);
        if (parked > 0) {
            LOG.info("tenant \"{}\" of executors is {}", EscapedText.of(tenant), away ? "parked" : "to come back");
        }
        return parked;
    }

    @Override
    public boolean knows(String tenant, IntPredicate owners) {
        return residency.knows(tenant, owners);
    }

    @Override
    public boolean relays(String tenant) {
        // Executors report their clients once a second; a client that takes turns has announced a device.
        return executors.serves(tenant) || sessions.registered().stream()
                .anyMatch(session -> TenantName.of(session.hello().tenant(), session.peer().uid(), processes.uid()).equals(tenant)
                        && devices.members(session).isEmpty());
    }

    @Override
    public AdmissionAnswer admission(AdmissionWish wish, long nowNs) {
        return admission.ask(wish, nowNs);
    }

    @Override
    public SpaceDevices spaceDevices(long nowNs) {
        return executors.devices(nowNs);
    }

    @Override
    public boolean isSet(String tenant) {
        return devices.shares().isSet(tenant);
    }

    @Override
    public int clients(String tenant) {
        return devices.shares().ofTenant(tenant).clients();
    }

    @Override
    public boolean clients(String tenant, OptionalInt most) {
        if (most.isPresent()) {
            LOG.info("tenant \"{}\" may have {} clients at once", EscapedText.of(tenant), most.getAsInt() == 0 ? "any number of" : most.getAsInt());
        }
        boolean set = devices.shares().clients(tenant, most);
        journal.write();
        return set;
    }

    @Override
    public void leaveAdmission(AdmissionWish wish) {
        admission.leave(wish);
    }

    @Override
    public void stop(boolean programs, long nowNs) {
        LOG.info("asked to stop over the control socket{}", programs ? ", with all programs" : "");
        stop.accept(programs, nowNs);
    }
}
