package io.tessera.manager.settings;

import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.conductor.DeviceRegistry;
import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.conductor.TenantShares;
import io.tessera.os.Errno;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxException;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.DeviceUuid;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.ObjLongConsumer;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tomlj.Toml;

/**
 * Operators' orders, stored in case the manager is killed: the next one continues with them. A manager that ends in order deletes them. The file is
 * in the runtime directory and has the form of {@code tessera.toml}. Its first line names the boot of the host, after which it is no longer valid.
 * The comment {@value #PASSING} behind the head of a tenant's table says that the table ends with the last program of the tenant. One owner thread.
 */
public final class OrderJournal implements Conductor.Timed {
    private static final String NAME = "orders.toml";
    private static final String BOOT = "# boot ";
    /** Begin of a table. Tables are parsed one by one, because the parser takes kilobytes of memory for each line of a text. */
    private static final Pattern TABLES = Pattern.compile("^(?=\\[)", Pattern.MULTILINE);
    private static final String PASSING = " # while it runs";
    private static final String CLIENTS = "clients = ";
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Logger LOG = LoggerFactory.getLogger(OrderJournal.class);

    /** Begin of a tenant's settings other than its limit of memory. No name contains a line break here. */
    private static final String TERMS = "\nweight = ";

    /**
     * Size of the longest journal: {@link TenantShares#MOST_TENANTS} tables of terms, as many of terms that last, and as many of limits,
     * each of less than 400 bytes.
     */
    private static final int MOST_BYTES = 3 * 400 * TenantShares.MOST_TENANTS;

    /** Time to wait for returning programs, which register within seconds of a new manager's start; also enough on a busy host. */
    static final long RETURN_NS = 60_000_000_000L;

    private static final long RETRY_NS = 1_000_000_000L;

    private final FilePort files;
    private final Path file;
    private final DeviceRegistry devices;
    /** Limits in bytes of tenants of executors, if a command set them last; 0: no limit. */
    private final Map<String, Long> limits = new LinkedHashMap<>();
    private boolean limitsChanged;
    private long writtenChanges;
    private String problem = "";
    private long retryNs = Long.MAX_VALUE;
    private long forgetNs = Long.MAX_VALUE;

    /** Creates the journal in a runtime directory. */
    public OrderJournal(FilePort files, Path directory, DeviceRegistry devices) {
        this.files = files;
        this.file = directory.resolve(NAME);
        this.devices = devices;
    }

    /**
     * Restores the orders to a manager that was killed.
     *
     * @param limitsSet sets the bytes of device memory that a tenant of executors may use
     */
    public void restore(ObjLongConsumer<String> limitsSet, long nowNs) {
        try {
            String text = read();
            if (!text.startsWith(BOOT + boot() + "\n")) {
                files.remove(file);
                return;
            }
            Map<String, Settings> tables = new LinkedHashMap<>();
            for (String table : TABLES.split(text)) {
                tables.put(table, SettingsFile.parse(table, Accounts.NONE));
            }
            tables.forEach((table, ordered) -> restore(table, ordered, nowNs));
            limits.forEach(limitsSet::accept);
            writtenChanges = devices.shares().changes();
            forgetNs = nowNs + RETURN_NS;
            LOG.info("the manager before was killed; what was ordered of it holds: {}", file);
        } catch (LinuxException | SettingsException e) {
            LOG.warn("what was ordered of the manager before is lost, {}: {}", file, e.getMessage());
        }
    }

    private void restore(String table, Settings ordered, long nowNs) {
        devices.order(Optional.empty(), ordered.all(), nowNs);
        ordered.devices().forEach(devices.orders()::restore);
        limits.putAll(ordered.limits());
        boolean withTerms = table.contains(TERMS);
        boolean withClients = table.contains("\n" + CLIENTS);
        if (!withTerms && !withClients) {
            return;
        }
        boolean whileItRuns = table.lines().findFirst().orElse("").endsWith(PASSING);
        ordered.rules().tenants().forEach((tenant, terms) -> {
            devices.terms(tenant, withTerms ? terms : devices.shares().written(tenant), whileItRuns, nowNs);
            if (withClients) {
                devices.shares().clients(tenant, OptionalInt.of(ordered.rules().places().ofTenant(tenant).clients()));
            }
            if (whileItRuns) {
                devices.shares().await(tenant);
            }
        });
    }

    @Override
    public int doWork(long nowNs) {
        if (nowNs >= forgetNs) {
            forgetNs = Long.MAX_VALUE;
            devices.forgetAwaited();
        }
        if (limitsChanged || devices.shares().changes() != writtenChanges || nowNs >= retryNs) {
            write();
            retryNs = problem.isEmpty() ? Long.MAX_VALUE : nowNs + RETRY_NS;
            return 1;
        }
        if (!problem.isEmpty() && retryNs == Long.MAX_VALUE) {
            retryNs = nowNs + RETRY_NS;
        }
        return 0;
    }

    @Override
    public long nextDeadlineNs() {
        return Math.min(forgetNs, retryNs);
    }

    /**
     * Returns why orders would be lost if this manager were killed; empty if they would not. While there is a problem, it writes again every second.
     */
    public String problem() {
        return problem;
    }

    /**
     * Records that a command has set the limit of a tenant of executors; 0: no limit. The caller then writes the journal.
     *
     * @return false if too many tenants would have limits
     */
    public boolean limit(String tenant, long bytes) {
        if (limits.size() >= TenantShares.MOST_TENANTS && !limits.containsKey(tenant)) {
            return false;
        }
        limits.put(tenant, bytes);
        return true;
    }

    /** Records that the file of settings has set the limit of a tenant last. */
    public void limitInFile(String tenant) {
        limitsChanged |= limits.remove(tenant) != null;
    }

    private String read() throws LinuxException {
        int descriptor;
        try {
            descriptor = files.open(file, FilePort.Open.READ, 0);
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOENT) {
                return "";
            }
            throw e;
        }
        try {
            return new String(files.read(descriptor, MOST_BYTES), StandardCharsets.UTF_8);
        } finally {
            files.close(descriptor);
        }
    }

    /** Writes the orders that hold now. */
    public void write() {
        StringBuilder text = new StringBuilder(BOOT).append(boot())
                .append("\n# What commands have set; read by the next manager if this one is killed.\n");
        sharing(text, devices.orders().all());
        for (Map.Entry<DeviceUuid, DeviceSharing> device : devices.orders().devices().entrySet()) {
            text.append("[device.\"").append(device.getKey()).append("\"]\n");
            sharing(text, device.getValue());
        }
        TenantShares shares = devices.shares();
        Set<String> tenants = new LinkedHashSet<>(shares.set().keySet());
        tenants.addAll(shares.clients().keySet());
        tenants.addAll(shares.withLasting());
        tenants.addAll(limits.keySet());
        tenants.forEach(tenant -> tenant(text, tenant, shares));
        writtenChanges = shares.changes();
        limitsChanged = false;
        try {
            Path next = file.resolveSibling(NAME + ".next");
            files.remove(next);
            int descriptor = files.open(next, FilePort.Open.CREATE_NEW, 0600);
            try {
                files.write(descriptor, text.toString().getBytes(StandardCharsets.UTF_8));
            } finally {
                files.close(descriptor);
            }
            files.rename(next, file);
            if (!problem.isEmpty()) {
                LOG.info("what was ordered is written down again");
            }
            problem = "";
        } catch (LinuxException e) {
            String now = "what was ordered does not survive if this manager is killed: " + e.getMessage();
            if (!now.equals(problem)) {
                problem = now;
                LOG.warn("{}", now);
            }
        }
    }

    private static void sharing(StringBuilder text, DeviceSharing sharing) {
        sharing.mode().ifPresent(mode -> text.append("mode = \"").append(mode.name().toLowerCase(Locale.ROOT)).append("\"\n"));
        sharing.policy().ifPresent(policy -> text.append("policy = \"").append(policy.text()).append("\"\n"));
        sharing.quantumNs().ifPresent(ns -> text.append("quantum = \"").append(ns).append("ns\"\n"));
    }

    private void tenant(StringBuilder text, String tenant, TenantShares shares) {
        TenantTerms terms = shares.set().get(tenant);
        Integer clients = shares.clients().get(tenant);
        if (shares.withLasting().contains(tenant)) {
            // Lasting settings precede those that hold while the tenant runs, so that they are beneath them again.
            table(text, tenant, "", shares.lastingTerms(tenant).orElse(null), shares.lastingClients(tenant).orElse(null));
            terms = shares.of(tenant);
        }
        table(text, tenant, (terms != null || clients != null) && shares.whileItRuns(tenant) ? PASSING : "", terms, clients);
        Long limit = limits.get(tenant);
        if (limit != null) {
            text.append("memory = \"").append(limit == 0 ? "none" : limit + "B").append("\"\n");
        }
    }

    private static void table(StringBuilder text, String tenant, String passing, TenantTerms terms, Integer clients) {
        text.append("[tenant.\"").append(Toml.tomlEscape(tenant)).append("\"]").append(passing);
        if (terms != null) {
            terms(text, terms);
        }
        text.append('\n');
        if (clients != null) {
            text.append(CLIENTS).append(clients).append('\n');
        }
    }

    private static void terms(StringBuilder text, TenantTerms terms) {
        text.append(TERMS).append(terms.weight()).append("\npriority = ").append(terms.priority());
        text.append("\nclass = \"").append(terms.tenantClass().name().toLowerCase(Locale.ROOT)).append("\"\n");
        cap(text, "cap", terms.hardCap());
        cap(text, "soft-cap", terms.softCap());
        text.append("target = \"").append(terms.targetNs()).append("ns\"");
        text.append("\nreplayable = ").append(terms.replayable());
    }

    private static void cap(StringBuilder text, String key, double cap) {
        text.append(key).append(String.format(Locale.ROOT, " = \"%.3f%%\"%n", cap * 100));
    }

    private static String boot() {
        try {
            return Files.readString(BOOT_ID).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** Deletes the journal, so that nothing of it holds for the next manager. */
    public void forget() {
        try {
            files.remove(file);
        } catch (LinuxException e) {
            LOG.warn("what was ordered of this manager is not forgotten: {}", e.toString());
        }
    }
}
