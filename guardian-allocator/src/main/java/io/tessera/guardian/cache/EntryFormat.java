package io.tessera.guardian.cache;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The bytes of an entry's file, little-endian:
 *
 * <pre>
 * offset  bytes
 *      0      8  "TESSCODE"
 *      8      4  version of this form: 1
 *     12     32  the key, so that a renamed file is seen
 *     44      8  bytes of machine code, m
 *     52      8  bytes of tables, t
 *     60      4  CRC32C of the machine code and the tables
 *     64      4  CRC32C of the 64 bytes before
 *     68      m  machine code
 *   68+m      t  tables, to the end of the file
 * </pre>
 *
 * The sums find torn and damaged files. They do not protect against a user who may write into the directory; only its owner may.
 */
final class EntryFormat {
    /** Version of the form; also the directory's, so that two versions never meet. */
    static final int VERSION = 1;
    static final int HEADER_BYTES = 68;
    /** "TESSCODE" as a little-endian number. */
    private static final long MAGIC = 0x45444F4353534554L;
    private static final int SUMMED_HEADER_BYTES = 64;

    private EntryFormat() {
    }

    /** The header of an entry; the two parts follow it. */
    static ByteBuffer header(CacheKey key, CachedCode code) {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(MAGIC).putInt(VERSION).put(key.bytes());
        header.putLong(code.code().length).putLong(code.tables().length);
        CRC32C payload = new CRC32C();
        payload.update(code.code());
        payload.update(code.tables());
        header.putInt((int) payload.getValue());
        header.putInt(sum(header.array(), 0, SUMMED_HEADER_BYTES));
        return header.flip();
    }

    /** The contents of a file, or empty if it is not exactly the entry of this key. */
    static Optional<CachedCode> parse(CacheKey key, byte[] file) {
        if (file.length < HEADER_BYTES) {
            return Optional.empty();
        }
        ByteBuffer header = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        boolean ours = header.getLong() == MAGIC && header.getInt() == VERSION;
        byte[] itsKey = new byte[CacheKey.BYTES];
        header.get(itsKey);
        long machineCode = header.getLong();
        long tables = header.getLong();
        int payloadSum = header.getInt();
        if (!ours || header.getInt() != sum(file, 0, SUMMED_HEADER_BYTES) || !Arrays.equals(itsKey, key.bytes())) {
            return Optional.empty();
        }
        long payload = file.length - HEADER_BYTES;
        // Both are below the file's size before they are added, so the sum does not wrap.
        if (machineCode < 0 || tables < 0 || machineCode > payload || tables != payload - machineCode
                || payloadSum != sum(file, HEADER_BYTES, (int) payload)) {
            return Optional.empty();
        }
        int split = HEADER_BYTES + (int) machineCode;
        return Optional.of(new CachedCode(Arrays.copyOfRange(file, HEADER_BYTES, split),
                Arrays.copyOfRange(file, split, file.length)));
    }

    private static int sum(byte[] bytes, int from, int length) {
        CRC32C sum = new CRC32C();
        sum.update(bytes, from, length);
        return (int) sum.getValue();
    }
}
