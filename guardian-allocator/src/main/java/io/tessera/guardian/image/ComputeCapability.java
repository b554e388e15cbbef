package io.tessera.guardian.image;

/**
 * Compute capability of a GPU. Immutable.
 *
 * @param major generation: 9 for Hopper
 * @param minor variant within it, 0 to 9
 */
public record ComputeCapability(int major, int minor) implements Comparable<ComputeCapability> {
    /** The capability of an {@code sm_} number: 75 is 7.5, 121 is 12.1. */
    public static ComputeCapability ofSm(int sm) {
        return new ComputeCapability(sm / 10, sm % 10);
    }

    /** Its {@code sm_} number. */
    public int sm() {
        return major * 10 + minor;
    }

    @Override
    public int compareTo(ComputeCapability other) {
        return Integer.compare(sm(), other.sm());
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
