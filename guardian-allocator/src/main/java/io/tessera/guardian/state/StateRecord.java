package io.tessera.guardian.state;

import java.util.Arrays;

/**
 * A record of a {@link StateStore}. Immutable.
 *
 * @param version of the form of the bytes, the caller's
 * @param bytes   copied both ways
 */
public record StateRecord(int version, byte[] bytes) {
    /** Copies the bytes. */
    public StateRecord {
        bytes = bytes.clone();
    }

    /** A copy. */
    @Override
    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StateRecord that && version == that.version && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return 31 * version + Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "version " + version + ", " + bytes.length + " bytes";
    }
}
