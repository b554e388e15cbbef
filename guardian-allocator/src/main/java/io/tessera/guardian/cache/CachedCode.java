package io.tessera.guardian.cache;

/**
 * Contents of an entry. The cache neither reads nor copies its parts, and they must not be written to.
 *
 * @param code   code that the driver loads: a cubin or text
 * @param tables other data that the executor needs to load the code and fill its variables (hoisted variables, texts of assertions, names of
 *               kernels), in the binary form of {@link FencedTables}, so that a second start parses nothing
 */
public record CachedCode(byte[] code, byte[] tables) {
    /** Bytes of both parts. */
    public long sizeBytes() {
        return (long) code.length + tables.length;
    }
}
