package io.tessera.guardian.state;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * A store in a plain file. Every change is one record at the end of the file ({@link RecordForm}), and the newest record of a key counts. A record
 * that a killed process left unfinished has no valid checksum; it is dropped at the next opening, so the older one counts. When most of the file is
 * outdated, a new file is written beside it and renamed over it.
 *
 * <p>When a call returns, its change has reached the operating system and survives the process; it is not forced to the disk. All records are also in
 * memory, so reading touches no file. Thread-safe: every method holds the object's lock.
 */
public final class FileStateStore implements StateStore {
    /** Smaller files are not worth to be written again. */
    private static final long COMPACTED_FROM_BYTES = 1 << 20;

    /** Upper bound of a file. 65536 records of the largest size would exceed it, but the bounds table has few records. */
    private static final long MAX_FILE_BYTES = 256 << 20;

    private final Path path;
    private final Map<String, StateRecord> records = new LinkedHashMap<>();
    private FileChannel channel;
    private StateLock lock;
    private long end;
    private long usefulBytes;
    private long dropped;

    private FileStateStore(Path path) {
        this.path = path;
    }

    /**
     * Opens a store. Creates it if it does not exist, and drops damaged records.
     *
     * @param path a file in a folder that only this user can write
     * @throws StateException if it cannot be read or written, or if another process has it open
     */
    public static FileStateStore open(Path path) throws StateException {
        FileStateStore store = new FileStateStore(path);
        try {
            store.openAndLock();
            store.load();
        } catch (IOException e) {
            store.close();
            throw new StateException("state file " + path + " cannot be opened: " + e.getMessage(), e);
        } catch (StateException e) {
            store.close();
            throw e;
        }
        return store;
    }

    /**
     * Returns the contents of a store that another process may have open and may be writing, as of some moment during the call.
     *
     * @return by key; empty if there is no store
     * @throws StateException if it cannot be read
     */
    public static Map<String, StateRecord> read(Path path) throws StateException {
        FileStateStore store = new FileStateStore(path);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            store.scan(channel); // a record that is half written yet, or rewritten beside us, is none
            return store.records;
        } catch (NoSuchFileException e) {
            return Map.of();
        } catch (IOException e) {
            throw new StateException("state file " + path + " cannot be read: " + e.getMessage(), e);
        }
    }

    private void openAndLock() throws IOException, StateException {
        lock = StateLock.take(path);
        channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    private void load() throws IOException, StateException {
        end = scan(channel);
        if (dropped > 0) {
            rewrite();
        }
    }

    private int scan(FileChannel from) throws IOException, StateException {
        long size = from.size();
        if (size > MAX_FILE_BYTES) {
            throw new StateException("state file " + path + " has " + size + " bytes, more than one of ours can have");
        }
        ByteBuffer bytes = ByteBuffer.allocate((int) size).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining() && from.read(bytes, bytes.position()) > 0) {
            // until all of it is here
        }
        bytes.flip();
        boolean damaged = false;
        int at = 0;
        while (at < bytes.limit()) {
            Optional<RecordForm.Entry> entry = RecordForm.read(bytes, at);
            if (entry.isPresent()) {
                damaged = false;
                apply(entry.get());
                at += entry.get().length();
            } else {
                dropped += damaged ? 0 : 1; // a stretch without a record counts once
                damaged = true;
                at++;
            }
        }
        return at;
    }

    private void apply(RecordForm.Entry entry) {
        if (entry.kind() == RecordForm.PUT) {
            StateRecord old = records.put(entry.key(), entry.value());
            usefulBytes += entry.length() - (old == null ? 0 : lengthOf(entry.key(), old));
        } else {
            StateRecord old = records.remove(entry.key());
            usefulBytes -= old == null ? 0 : lengthOf(entry.key(), old);
        }
    }

    private static int lengthOf(String key, StateRecord value) {
        return RecordForm.HEADER_BYTES + key.getBytes(StandardCharsets.UTF_8).length + value.bytes().length;
    }

    @Override
    public synchronized void put(String key, StateRecord value) throws StateException {
        change(RecordForm.PUT, key, value);
    }

    @Override
    public synchronized boolean remove(String key) throws StateException {
        if (!records.containsKey(key)) {
            return false;
        }
        change(RecordForm.REMOVE, key, new StateRecord(0, new byte[0]));
        return true;
    }

    private void change(byte kind, String key, StateRecord value) throws StateException {
        requireOpen();
        byte[] form = RecordForm.write(kind, key, value);
        try {
            if (end > COMPACTED_FROM_BYTES && end > 4 * usefulBytes) {
                rewrite(); // first, so that what is reported as not written is not there
            }
            append(form);
            apply(new RecordForm.Entry(kind, key, value, form.length));
        } catch (IOException e) {
            throw new StateException("state file " + path + " cannot be written: " + e.getMessage(), e);
        }
    }

    private void append(byte[] form) throws IOException {
        try {
            writeAll(channel, ByteBuffer.wrap(form), end);
        } catch (IOException e) {
            channel.truncate(end); // a full disk: the half of a record is nothing that should stay
            throw e;
        }
        end += form.length;
    }

    private static void writeAll(FileChannel to, ByteBuffer bytes, long at) throws IOException {
        long position = at;
        while (bytes.hasRemaining()) {
            position += to.write(bytes, position);
        }
    }

    private void rewrite() throws IOException {
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        FileChannel to = FileChannel.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.READ, StandardOpenOption.WRITE);
        long at = 0;
        try {
            for (Map.Entry<String, StateRecord> record : records.entrySet()) {
                byte[] form = RecordForm.write(RecordForm.PUT, record.getKey(), record.getValue());
                writeAll(to, ByteBuffer.wrap(form), at);
                at += form.length;
            }
            Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            to.close();
            throw e;
        }
        channel.close();
        channel = to;
        end = at;
        usefulBytes = at;
    }

    private void requireOpen() {
        if (lock == null) {
            throw new IllegalStateException("state file " + path + " is closed");
        }
    }

    @Override
    public synchronized Optional<StateRecord> get(String key) {
        return Optional.ofNullable(records.get(key));
    }

    @Override
    public synchronized void forEach(BiConsumer<String, StateRecord> action) {
        records.forEach(action);
    }

    @Override
    public synchronized long dropped() {
        return dropped;
    }

    @Override
    public synchronized void close() {
        if (lock == null) {
            return;
        }
        StateLock held = lock;
        lock = null;
        try (held) {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("state file " + path + " cannot be closed", e);
        }
    }
}
