package io.tessera.manager.settings;

import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.conductor.DeviceRegistry;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.sharing.SharingPreference;
import io.tessera.protocol.message.EscapedText;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.function.ObjLongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies a file of settings to a manager: reads it at the start and at most {@value #LOOK_MS} ms after a change. A file with an error changes
 * nothing: the former contents stay in force, and the status shows the error. If the file is removed, its rules for tenants end; mode, policy and
 * quantum stay as they are. One owner thread; another one may read, see {@link #readBy}.
 */
public final class SettingsWatch implements Conductor.Timed {
    /** Interval of checks; the cost of a stat every second cannot be measured. */
    private static final long LOOK_MS = 1_000;

    /** Maximum size: room for a thousand tenants. The parser takes some 30 ms a KiB while it is cold, and took all the memory for 1 MiB. */
    private static final long MOST_BYTES = 1L << 16;

    /** Interval at which it is checked whether the file has been read. */
    private static final long READING_LOOK_NS = 10_000_000L;

    /** Time after which reading counts as long; the worst 64 KiB took 3.3 s. */
    static final long LONG_READING_NS = 10_000_000_000L;

    private static final Logger LOG = LoggerFactory.getLogger(SettingsWatch.class);

    /**
     * Identity of a file when it was read. The time of its last change of status covers its permissions too. A file with another identity is read
     * again.
     */
    private record Seen(Object inode, Object changed, Object bytes) {
        /** Stands for files that could not be checked or read; they are read when that is possible again, even if nothing in them has changed. */
        static final Seen UNREADABLE = new Seen("", "", "");
    }

    private final Path file;
    private final Accounts accounts;
    private final int ownUid;
    private final DeviceRegistry devices;
    private final ObjLongConsumer<String> limits;
    private Settings settings = Settings.NONE;
    /** Tenants whose limit comes from the file: no command has set another one since. */
    private final Set<String> limited = new HashSet<>();
    private Executor reader = Runnable::run;
    /** The file's contents while they are being read; null: they are not. */
    private FutureTask<Settings> reading;
    private long readingSinceNs;
    private Seen seen;
    private String problem = "";
    private long nextNs;

    /**
     * Creates the watch for a manager.
     *
     * @param file    the file; need not exist
     * @param ownUid  the manager's user
     * @param devices the devices that the settings apply to
     * @param limits  sets the bytes of device memory that a tenant of executors may use
     */
    public SettingsWatch(Path file, int ownUid, DeviceRegistry devices, ObjLongConsumer<String> limits) {
        this.file = file;
        this.accounts = new Accounts(Path.of("/etc/passwd"), Path.of("/etc/group"));
        this.ownUid = ownUid;
        this.devices = devices;
        this.limits = limits;
    }

    /** Makes another thread read the file from now on, because its parser may take seconds. The owner applies the contents. */
    public void readBy(Executor other) {
        reader = other;
    }

    /** Returns the path of the file, whether it exists or not. */
    public Path file() {
        return file;
    }

    /** Returns the file's way of sharing for programs that leave it to the manager; empty: not in the file. */
    public Optional<SharingPreference> preference() {
        return settings.preference();
    }

    /** Returns the file's rule for the device of a program that names none; empty: not in the file. */
    public Optional<DevicePlacement> placement() {
        return settings.placement();
    }

    /** Returns whether the file exists. */
    public boolean isThere() {
        return seen != null;
    }

    /** Returns the error in the present file; empty: none. */
    public String problem() {
        return problem;
    }

    @Override
    public int doWork(long nowNs) {
        if (nextNs > nowNs) {
            return 0;
        }
        nextNs = nowNs + LOOK_MS * 1_000_000L;
        if (reading == null) {
            try {
                Optional<Seen> found = look();
                if (Objects.equals(found.orElse(null), seen)) {
                    return 0;
                }
                seen = found.orElse(null);
                reading = new FutureTask<>(found.isEmpty() ? () -> Settings.NONE : () -> SettingsFile.parse(read(), accounts));
                readingSinceNs = nowNs;
                reader.execute(reading);
            } catch (IOException e) {
                unreadable(e);
                return 0;
            }
        }
        if (!reading.isDone()) {
            nextNs = nowNs + READING_LOOK_NS;
            if (nowNs - readingSinceNs >= LONG_READING_NS) {
                wrong("reading it takes longer than " + LONG_READING_NS / 1_000_000_000L + " s");
            }
            return 0;
        }
        FutureTask<Settings> done = reading;
        reading = null;
        return applied(done, nowNs) ? 1 : 0;
    }

    private boolean applied(FutureTask<Settings> done, long nowNs) {
        try {
            apply(done.get(), nowNs);
            return true;
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case SettingsException wrong -> wrong(wrong.getMessage());
                case MalformedInputException wrong -> wrong("it is no text in UTF-8");
                case Throwable other -> unreadable(other);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("it was done", e);
        }
        return false;
    }

    private void unreadable(Throwable reason) {
        seen = Seen.UNREADABLE;
        wrong("it cannot be read: " + reason);
    }

    private Optional<Seen> look() throws IOException {
        try {
            Map<String, Object> attributes = Files.readAttributes(file, "unix:ino,ctime,size");
            return Optional.of(new Seen(attributes.get("ino"), attributes.get("ctime"), attributes.get("size")));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    private String read() throws IOException, SettingsException {
        if (!Files.isRegularFile(file) || Files.size(file) > MOST_BYTES) {
            throw new SettingsException("it is no file, or larger than 64 KiB");
        }
        int owner = (int) Files.getAttribute(file, "unix:uid");
        if (owner != 0 && owner != ownUid || ((int) Files.getAttribute(file, "unix:mode") & 2) != 0) {
            throw new SettingsException("it must belong to root or to the manager's user, and others must not be able to write to it");
        }
        return Files.readString(file, StandardCharsets.UTF_8);
    }

    private void wrong(String what) {
        if (!what.equals(problem)) {
            problem = what;
            LOG.error("{}: {}. What it said before stays in force", file, EscapedText.of(what));
        }
    }

    private void apply(Settings read, long nowNs) {
        problem = "";
        LOG.info(isThere() ? "{} is read: {} tenants, {} users, {} devices" : "{} is not there", file, read.rules().tenants().size(),
                read.rules().users().size(), read.devices().size());
        Settings before = settings;
        settings = read;
        devices.rules(read.rules(), nowNs);
        if (!read.devices().equals(before.devices())) {
            devices.written(read.devices(), nowNs);
        }
        devices.share(read.all().newerThan(before.all()), nowNs);
        for (Map.Entry<String, Long> limit : read.limits().entrySet()) {
            if (!limit.getValue().equals(before.limits().get(limit.getKey()))) {
                limited.add(limit.getKey());
                limits.accept(limit.getKey(), limit.getValue());
            }
        }
        for (String tenant : before.limits().keySet()) {
            if (!read.limits().containsKey(tenant) && limited.remove(tenant)) {
                limits.accept(tenant, 0);
            }
        }
    }

    /** Records that a command has set the limit of a tenant: it stays when the file no longer has one. */
    public void limitOrdered(String tenant) {
        limited.remove(tenant);
    }

    @Override
    public long nextDeadlineNs() {
        return nextNs;
    }
}
