package io.tessera.guardian.state;

import io.tessera.guardian.window.BoundsEntry;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The partition bounds table: one {@link BoundsEntry} for each tenant and device, in a {@link StateStore}. Written by the executor that
 * owns the device, read by any process that shows it. Entries of an unknown version are passed over. Thread-safe as its store is, which
 * stays the caller's.
 */
public final class BoundsTable {
    private static final int VERSION = 1;
    private static final String PREFIX = "bounds/";

    private final StateStore store;

    /** A table in a store that may hold other things too. */
    public BoundsTable(StateStore store) {
        this.store = store;
    }

    private static String key(String tenant, String device) {
        return PREFIX + device + "\n" + tenant; // neither has line breaks, so no two lines share a key
    }

    /** Writes an entry; replaces the one for the same tenant and device. */
    public void put(BoundsEntry entry) throws StateException {
        store.put(key(entry.tenant(), entry.device()), new StateRecord(VERSION, write(entry)));
    }

    /** The line, or nothing. */
    public Optional<BoundsEntry> get(String tenant, String device) throws StateException {
        return store.get(key(tenant, device)).flatMap(BoundsTable::read);
    }

    /** Removes an entry; does nothing if there is none. */
    public void remove(String tenant, String device) throws StateException {
        store.remove(key(tenant, device));
    }

    /** All lines that can be read, by device and base address. */
    public List<BoundsEntry> entries() throws StateException {
        Map<String, StateRecord> all = new HashMap<>();
        store.forEach(all::put);
        return entries(all);
    }

    /** As above, from the records of a store that another process has open. */
    public static List<BoundsEntry> entries(Map<String, StateRecord> records) {
        List<BoundsEntry> found = new ArrayList<>();
        records.forEach((key, value) -> {
            if (key.startsWith(PREFIX)) {
                read(value).ifPresent(found::add);
            }
        });
        found.sort(Comparator.comparing(BoundsEntry::device).thenComparing(BoundsEntry::baseAddress));
        return found;
    }

    private static byte[] write(BoundsEntry entry) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeUTF(entry.tenant());
            out.writeUTF(entry.device());
            out.writeLong(entry.baseAddress());
            out.writeLong(entry.sizeBytes());
            out.writeLong(entry.devicePartBytes());
            out.writeLong(entry.committedBytes());
            out.writeLong(entry.quotaBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e); // only a label that is longer than writeUTF takes
        }
        return bytes.toByteArray();
    }

    private static Optional<BoundsEntry> read(StateRecord value) {
        if (value.version() != VERSION) {
            return Optional.empty();
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value.bytes()))) {
            return Optional.of(new BoundsEntry(in.readUTF(), in.readUTF(), in.readLong(), in.readLong(), in.readLong(),
                    in.readLong(), in.readLong()));
        } catch (IOException | IllegalArgumentException e) {
            return Optional.empty(); // The checksum was right, so another program wrote the entry; it is not shown.
        }
    }
}
