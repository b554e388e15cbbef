package io.tessera.guardian.ptx;

/**
 * Version of the ISA that a module is written in: its {@code .version}. Immutable.
 *
 * @param major 1 or more
 * @param minor 0 or more
 */
public record PtxVersion(int major, int minor) implements Comparable<PtxVersion> {
    /** The newest version whose grammar this package knows: that of CUDA 13.0. */
    public static final PtxVersion NEWEST = new PtxVersion(9, 0);

    @Override
    public int compareTo(PtxVersion other) {
        return major != other.major ? Integer.compare(major, other.major) : Integer.compare(minor, other.minor);
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
