package io.tessera.state;

import io.tessera.guardian.state.RecordForm;
import io.tessera.guardian.state.StateException;
import io.tessera.guardian.state.StateLock;
import io.tessera.guardian.state.StateRecord;
import io.tessera.guardian.state.StateStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import net.openhft.chronicle.hash.ChronicleHashCorruption;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;

/**
 * A store in a Chronicle Map, a file mapped into memory: a record costs no system call. Each key has two entries that are written in turn, because
 * Chronicle Map overwrites a value of equal length in place: a process that is killed meanwhile leaves a torn entry, and the other one is still
 * whole. After a kill the map also needs its recovery, because the killed process may hold a lock in it; a mark beside the file says so. A damaged
 * record that recovery finds, or one without a valid checksum of this class, is dropped and counted. A file that cannot be recovered at all is
 * replaced by an empty one, which counts once.
 *
 * <p>Needs {@link #JVM_FLAGS}, and a JDK: Chronicle Map compiles classes when it opens. That takes a second or more, so open it on a thread for which
 * no other waits. Usage data is never sent. Thread-safe: every method holds the object's lock.
 */
public final class ChronicleStateStore implements StateStore {
    /** Options that a JVM needs: Chronicle Map accesses these packages (seen with 2026.1 on JDK 25). */
    public static final List<String> JVM_FLAGS = List.of("--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
            "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow");

    private static final int ENTRIES = 8192;
    private static final int KEY_BYTES = 48;
    private static final int VALUE_BYTES = 400;

    /** An entry may have 64 chunks, and the largest record has 17 KB. */
    private static final int CHUNK_BYTES = 512;

    private static final int SEQUENCE_BYTES = 16;

    /**
     * A record and its place.
     *
     * @param entry    index of its entry, 0 or 1
     * @param sequence sequence number; of the two entries the one with the higher number is valid
     */
    private record Kept(StateRecord value, int entry, long sequence) {
    }

    private final Path path;
    private final StateLock lock;
    private final Map<String, Kept> records = new HashMap<>();
    private ChronicleMap<String, byte[]> map;
    private long dropped;

    static {
        // These are read when Chronicle's classes are initialised, which is after this one: no usage data, no advertisement.
        System.setProperty("chronicle.analytics.disable", "true");
        System.setProperty("chronicle.announcer.disable", "true");
    }

    private ChronicleStateStore(Path path, StateLock lock) {
        this.path = path;
        this.lock = lock;
    }

    /**
     * Opens a store, creates it if it does not exist, and recovers it if its last process was killed.
     *
     * @param path a file in a folder that only this user can write
     * @throws StateException if it cannot be opened, if another process has it open, or if the JVM lacks {@link
     *                        #JVM_FLAGS}
     */
    public static ChronicleStateStore open(Path path) throws StateException {
        ChronicleStateStore store = new ChronicleStateStore(path, StateLock.take(path));
        boolean done = false;
        try {
            boolean killed = Files.exists(store.mark());
            if (!killed) {
                Files.createFile(store.mark());
            }
            store.map = killed && Files.exists(path) ? store.recovered() : store.fresh();
            store.load();
            done = true;
            return store;
        } catch (IOException | RuntimeException | LinkageError e) {
            throw new StateException("state file " + path + " cannot be opened: " + e, e);
        } finally {
            if (!done) {
                store.lock.close();
            }
        }
    }

    private Path mark() {
        return path.resolveSibling(path.getFileName() + ".open");
    }

    private static ChronicleMapBuilder<String, byte[]> builder() {
        return ChronicleMapBuilder.of(String.class, byte[].class).name("state").averageKeySize(KEY_BYTES)
                .averageValueSize(VALUE_BYTES).entries(ENTRIES).actualChunkSize(CHUNK_BYTES).actualSegments(1)
                .entriesPerSegment(ENTRIES).actualChunksPerSegmentTier(2L * ENTRIES).maxBloatFactor(4)
                .checksumEntries(true);
    }

    private ChronicleMap<String, byte[]> fresh() throws IOException {
        return builder().createPersistedTo(path.toFile());
    }

    private ChronicleMap<String, byte[]> recovered() throws IOException {
        try {
            return builder().recoverPersistedTo(path.toFile(), true, this::noteDamage);
        } catch (RuntimeException e) {
            // The process was killed while it created the file, or the file is damaged beyond repair: all its contents can be made again.
            dropped++;
            Files.delete(path);
            return fresh();
        }
    }

    private void noteDamage(ChronicleHashCorruption damage) {
        dropped++;
    }

    private void load() {
        List<String> damaged = new ArrayList<>();
        map.forEach((entry, bytes) -> {
            if (!take(entry, bytes)) {
                damaged.add(entry);
            }
        });
        dropped += damaged.size();
        damaged.forEach(map::remove);
    }

    private boolean take(String entry, byte[] bytes) {
        ByteBuffer form = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.length < SEQUENCE_BYTES || form.getLong(0) != ~form.getLong(Long.BYTES)) {
            return false;
        }
        Optional<RecordForm.Entry> read = RecordForm.read(form, SEQUENCE_BYTES);
        if (read.isEmpty() || !entry.equals(name(read.get().key(), 0)) && !entry.equals(name(read.get().key(), 1))) {
            return false;
        }
        String key = read.get().key();
        Kept found = new Kept(read.get().value(), entry.equals(name(key, 0)) ? 0 : 1, form.getLong(0));
        records.merge(key, found, (a, b) -> a.sequence > b.sequence ? a : b);
        return true;
    }

    private static String name(String key, int entry) {
        return key + "#" + entry;
    }

    @Override
    public synchronized void put(String key, StateRecord value) throws StateException {
        byte[] form = RecordForm.write(RecordForm.PUT, key, value);
        Kept old = records.get(key);
        Kept fresh = new Kept(value, old == null ? 0 : 1 - old.entry, old == null ? 1 : old.sequence + 1);
        ByteBuffer bytes = ByteBuffer.allocate(SEQUENCE_BYTES + form.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(fresh.sequence).putLong(~fresh.sequence).put(form);
        try {
            requireOpen().put(name(key, fresh.entry), bytes.array());
        } catch (RuntimeException e) {
            throw new StateException("state file " + path + " cannot be written: " + e, e);
        }
        records.put(key, fresh);
    }

    @Override
    public synchronized Optional<StateRecord> get(String key) {
        return Optional.ofNullable(records.get(key)).map(Kept::value);
    }

    @Override
    public synchronized boolean remove(String key) throws StateException {
        Kept old = records.get(key);
        if (old == null) {
            return false;
        }
        try {
            // The outdated entry is removed first: after a kill between the two, the record is still the newest one.
            requireOpen().remove(name(key, 1 - old.entry));
            map.remove(name(key, old.entry));
        } catch (RuntimeException e) {
            throw new StateException("state file " + path + " cannot be written: " + e, e);
        }
        records.remove(key);
        return true;
    }

    @Override
    public synchronized void forEach(BiConsumer<String, StateRecord> action) {
        records.forEach((key, kept) -> action.accept(key, kept.value));
    }

    @Override
    public synchronized long dropped() {
        return dropped;
    }

    private ChronicleMap<String, byte[]> requireOpen() {
        if (map == null) {
            throw new IllegalStateException("the store is closed");
        }
        return map;
    }

    @Override
    public synchronized void close() {
        if (map == null) {
            return;
        }
        map.close();
        map = null;
        try {
            Files.deleteIfExists(mark());
        } catch (IOException e) {
            // The mark stays, so the next opening does an unnecessary recovery, which only takes time.
            System.getLogger(ChronicleStateStore.class.getName()).log(System.Logger.Level.WARNING, mark().toString(), e);
        }
        lock.close();
    }
}
