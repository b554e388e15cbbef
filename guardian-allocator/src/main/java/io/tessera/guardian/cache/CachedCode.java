package io.tessera.guardian.cache;

/**
 * What an entry holds. The cache looks into neither part and copies neither; nobody writes to them.
 *
 * @param code   what the driver loads, as its maker keeps it: a cubin, or text
 * @param tables what else the executor needs to load and fill it (hoisted variables, texts of assertions, names of
 *               kernels) in the binary form of {@link FencedTables}, so that nothing is parsed at a second start
 */
public record CachedCode(byte[] code, byte[] tables) {
    /** Bytes of both parts. */
    public long sizeBytes() {
        return (long) code.length + tables.length;
    }
}
