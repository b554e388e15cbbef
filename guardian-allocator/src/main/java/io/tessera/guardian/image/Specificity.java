package io.tessera.guardian.image;

/** Which other GPUs than the one it was made for can take a code (CUDA's suffixes of {@code compute_}). */
public enum Specificity {
    /** Later ones too: {@code compute_90}. */
    BASELINE(""),
    /** Later ones of the same generation too: {@code compute_100f}. */
    FAMILY("f"),
    /** No other: {@code compute_90a}. */
    ARCHITECTURE("a");

    private final String suffix;

    Specificity(String suffix) {
        this.suffix = suffix;
    }

    /** What follows the number: empty, {@code f} or {@code a}. */
    public String suffix() {
        return suffix;
    }

    /**
     * Whether PTX can be compiled for a GPU.
     *
     * @param made what the PTX was made for
     * @param gpu  the GPU
     */
    public boolean ptxRunsOn(ComputeCapability made, ComputeCapability gpu) {
        return switch (this) {
            case BASELINE -> made.compareTo(gpu) <= 0;
            case FAMILY -> made.major() == gpu.major() && made.minor() <= gpu.minor();
            case ARCHITECTURE -> made.equals(gpu);
        };
    }
}
