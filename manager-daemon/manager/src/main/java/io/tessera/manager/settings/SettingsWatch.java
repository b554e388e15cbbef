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
 * Keeps a manager to its file of settings: reads it at the start and whenever it has changed, at most {@value #LOOK_MS} ms later. A file that is
 * wrong changes nothing; what it said before stays in force, and the status says what is wrong. A file that is taken away takes back its rules
 * for tenants, and leaves mode, policy and quantum as they are. One owner thread; another one may read, see {@link #readBy}.
 */
public final class SettingsWatch implements Conductor.Timed {
    /** A stat every second costs nothing that can be measured. */
    private static final long LOOK_MS = 1_000;

    /** Room for a thousand tenants. The parser takes some 30 ms a KiB while it is cold, and took all the memory for 1 MiB. */
    private static final long MOST_BYTES = 1L << 16;

    /** How often it is looked whether the file has been read. */
    private static final long READING_LOOK_NS = 10_000_000L;

    /** The worst 64 KiB took 3.3 s. */
    static final long LONG_READING_NS = 10_000_000_000L;

    private static final Logger LOG = LoggerFactory.getLogger(SettingsWatch.class);

    /**
     * The identity of a file when it was read, its permissions included: the time of its last change of status tells. Another one is read
     * again.
     */
    private record Seen(Object inode, Object changed, Object bytes) {
        /** Files that could not be looked at or read; they are read when that is possible again, also if nothing in them has changed. */
        static final Seen UNREADABLE = new Seen("", "", "");
    }

    private final Path file;
    private final Accounts accounts;
    private final int ownUid;
    private final DeviceRegistry devices;
    private final ObjLongConsumer<String> limits;
    private Settings settings = Settings.NONE;
    /** Tenants whose limit is what the file says: no command has set another one since. */
    private final Set<String> limited = new HashSet<>();
    private Executor reader = Runnable::run;
    /** What the file says, while it is being read; null: it is not. */
    private FutureTask<Settings> reading;
    private long readingSinceNs;
    private Seen seen;
    private String problem = "";
    private long nextNs;

    /**
     * For a manager.
     *
     * @param file    need not exist
     * @param ownUid  the manager's user
     * @param devices what it is about
     * @param limits  sets the bytes of device memory that a tenant of executors may use
     */
    public SettingsWatch(Path file, int ownUid, DeviceRegistry devices, ObjLongConsumer<String> limits) {
        this.file = file;
        this.accounts = new Accounts(Path.of("/etc/passwd"), Path.of("/etc/group"));
        this.ownUid = ownUid;
        this.devices = devices;
        this.limits = limits;
    }

    /** Has the file read by another thread from now on: its parser may take seconds. What it says is applied by the owner. */
    public void readBy(Executor other) {
        reader = other;
    }

    /** Where the file is, or would be. */
    public Path file() {
        return file;
    }

    /** Which way of sharing the file says for programs that leave it to the manager; empty: it says nothing. */
    public Optional<SharingPreference> preference() {
        return settings.preference();
    }

    /** Which device the file says that a program gets that names none; empty: it says nothing. */
    public Optional<DevicePlacement> placement() {
        return settings.placement();
    }

    /** Whether there is a file. */
    public boolean isThere() {
        return seen != null;
    }

    /** The fault of the file as it is now; empty: none. */
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

    /** A command has set the limit of a tenant: it stays when the file no longer says one. */
    public void limitOrdered(String tenant) {
        limited.remove(tenant);
    }

    @Override
    public long nextDeadlineNs() {
        return nextNs;
    }
}
