package io.tessera.guardian.state;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The layout of a record in a file or in a map of another library, little-endian: magic number (4 bytes), CRC-32C of all that follows (4), length of
 * what follows the header (4), kind (1: {@link #PUT} or {@link #REMOVE}), zero (3), version (4), length of the key (4), key in UTF-8, bytes. The
 * checksum of a torn record does not match. Stateless.
 */
public final class RecordForm {
    /** A record is written. */
    public static final byte PUT = 1;

    /** A record is removed: it has a key and no bytes. */
    public static final byte REMOVE = 2;

    /** Before key and bytes. */
    public static final int HEADER_BYTES = 24;

    private static final int MAGIC = 0x5352_5354;
    private static final int MAX_BODY = StateStore.MAX_KEY_BYTES + StateStore.MAX_RECORD_BYTES;

    /**
     * A decoded record.
     *
     * @param kind   {@link #PUT} or {@link #REMOVE}
     * @param length of the whole form
     */
    public record Entry(byte kind, String key, StateRecord value, int length) {
    }

    private RecordForm() {
    }

    /**
     * Checks what a store refuses.
     *
     * @throws IllegalArgumentException if key or record are too long
     */
    public static void requireSizes(String key, StateRecord value) {
        int keyBytes = key.getBytes(StandardCharsets.UTF_8).length;
        if (keyBytes > StateStore.MAX_KEY_BYTES) {
            throw new IllegalArgumentException("a key of " + keyBytes + " bytes");
        }
        if (value.bytes().length > StateStore.MAX_RECORD_BYTES) {
            throw new IllegalArgumentException("a record of " + value.bytes().length + " bytes for " + key);
        }
    }

    /**
     * The bytes of a record.
     *
     * @throws IllegalArgumentException if key or record are too long
     */
    public static byte[] write(byte kind, String key, StateRecord value) {
        requireSizes(key, value);
        byte[] keyBytes = key.getBytes(StandardCharsets.UTF_8);
        byte[] bytes = value.bytes();
        ByteBuffer form = ByteBuffer.allocate(HEADER_BYTES + keyBytes.length + bytes.length).order(ByteOrder.LITTLE_ENDIAN);
        form.putInt(MAGIC).putInt(0).putInt(keyBytes.length + bytes.length).put(kind).put(new byte[3]);
        form.putInt(value.version()).putInt(keyBytes.length).put(keyBytes).put(bytes);
        form.putInt(4, checksum(form, 8, form.capacity()));
        return form.array();
    }

    private static int checksum(ByteBuffer form, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(form.slice(from, to - from));
        return (int) crc.getValue();
    }

    /**
     * Reads the record at an offset.
     *
     * @param form bytes that may or may not hold a record; little-endian, its position is not used
     * @return empty if there is no whole record with a valid checksum
     */
    public static Optional<Entry> read(ByteBuffer form, int at) {
        int room = form.limit() - at;
        if (room < HEADER_BYTES || form.getInt(at) != MAGIC) {
            return Optional.empty();
        }
        int body = form.getInt(at + 8);
        int keyLength = form.getInt(at + 20);
        byte kind = form.get(at + 12);
        if (body < 0 || body > MAX_BODY || body > room - HEADER_BYTES || keyLength < 0 || keyLength > body
                || checksum(form, at + 8, at + HEADER_BYTES + body) != form.getInt(at + 4)
                || kind != PUT && kind != REMOVE) {
            return Optional.empty();
        }
        byte[] key = new byte[keyLength];
        byte[] bytes = new byte[body - keyLength];
        form.get(at + HEADER_BYTES, key);
        form.get(at + HEADER_BYTES + keyLength, bytes);
        return Optional.of(new Entry(kind, new String(key, StandardCharsets.UTF_8),
                new StateRecord(form.getInt(at + 16), bytes), HEADER_BYTES + body));
    }
}
