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
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tomlj.Toml;

/**
 * What operators have ordered by command, for a manager that is killed: the next one goes on with it. A manager that ends in order forgets it.
 * A file in the runtime directory in the form of {@code tessera.toml}; its first line names the boot of the host, after which it counts no more. The
 * comment {@value #PASSING} behind the head of a tenant's table says that it goes with the last program of the tenant. One owner thread.
 */
public final class OrderJournal implements Conductor.Timed {
    private static final String NAME = "orders.toml";
    private static final String BOOT = "# boot ";
    /** Where a table begins: they are read one by one, because the parser takes kilobytes of memory for each line of a text. */
    private static final Pattern TABLES = Pattern.compile("^(?=\\[)", Pattern.MULTILINE);
    private static final String PASSING = " # while it runs";
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Logger LOG = LoggerFactory.getLogger(OrderJournal.class);

    /** Of the longest journal: {@link TenantShares#MOST_TENANTS} tables of less than 400 bytes. */
    private static final int MOST_BYTES = 400 * TenantShares.MOST_TENANTS;

    /** Programs register again within seconds of a new manager's start; this is also enough on a host that is busy. */
    static final long RETURN_NS = 60_000_000_000L;

    private static final long RETRY_NS = 1_000_000_000L;

    private final FilePort files;
    private final Path file;
    private final DeviceRegistry devices;
    private long writtenChanges;
    private String problem = "";
    private long retryNs = Long.MAX_VALUE;
    private long forgetNs = Long.MAX_VALUE;

    /** In a runtime directory. */
    public OrderJournal(FilePort files, Path directory, DeviceRegistry devices) {
        this.files = files;
        this.file = directory.resolve(NAME);
        this.devices = devices;
    }

    /** Goes on with what was ordered of a manager that was killed. */
    public void restore(long nowNs) {
        try {
            String text = read();
            if (!text.startsWith(BOOT + boot() + "\n")) {
                files.remove(file);
                return;
            }
            Map<Settings, Boolean> tables = new LinkedHashMap<>();
            for (String table : TABLES.split(text)) {
                tables.put(SettingsFile.parse(table, Accounts.NONE), table.lines().findFirst().orElse("").endsWith(PASSING));
            }
            tables.forEach((ordered, whileItRuns) -> restore(ordered, whileItRuns, nowNs));
            writtenChanges = devices.shares().changes();
            forgetNs = nowNs + RETURN_NS;
            LOG.info("the manager before was killed; what was ordered of it holds: {}", file);
        } catch (LinuxException | SettingsException e) {
            LOG.warn("what was ordered of the manager before is lost, {}: {}", file, e.getMessage());
        }
    }

    private void restore(Settings ordered, boolean whileItRuns, long nowNs) {
        devices.order(Optional.empty(), ordered.all(), nowNs);
        ordered.devices().forEach(devices.orders()::restore);
        ordered.rules().tenants().forEach((tenant, terms) -> {
            devices.terms(tenant, terms, whileItRuns, nowNs);
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
        if (devices.shares().changes() != writtenChanges || nowNs >= retryNs) {
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

    /** Why what was ordered does not survive if this manager is killed; empty: it does. It is written again every second while that lasts. */
    public String problem() {
        return problem;
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

    /** Writes down what holds by order now. */
    public void write() {
        StringBuilder text = new StringBuilder(BOOT).append(boot())
                .append("\n# What commands have set; read by the next manager if this one is killed.\n");
        sharing(text, devices.orders().all());
        for (Map.Entry<DeviceUuid, DeviceSharing> device : devices.orders().devices().entrySet()) {
            text.append("[device.\"").append(device.getKey()).append("\"]\n");
            sharing(text, device.getValue());
        }
        TenantShares shares = devices.shares();
        shares.set().forEach((tenant, terms) -> terms(text, tenant, terms, shares.whileItRuns(tenant)));
        writtenChanges = shares.changes();
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

    private static void terms(StringBuilder text, String tenant, TenantTerms terms, boolean whileItRuns) {
        text.append("[tenant.\"").append(Toml.tomlEscape(tenant)).append("\"]").append(whileItRuns ? PASSING : "").append('\n');
        text.append("weight = ").append(terms.weight()).append("\npriority = ").append(terms.priority());
        text.append("\nclass = \"").append(terms.tenantClass().name().toLowerCase(Locale.ROOT)).append("\"\n");
        cap(text, "cap", terms.hardCap());
        cap(text, "soft-cap", terms.softCap());
        text.append("target = \"").append(terms.targetNs()).append("ns\"\n");
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

    /** Nothing of it holds for the next manager. */
    public void forget() {
        try {
            files.remove(file);
        } catch (LinuxException e) {
            LOG.warn("what was ordered of this manager is not forgotten: {}", e.toString());
        }
    }
}
