package io.tessera.guardian.image;

/** Which GPUs can run code that was made for one GPU (the suffixes of {@code compute_} in CUDA). */
public enum Specificity {
    /** Later ones too: {@code compute_90}. */
    BASELINE(""),
    /** Later ones of the same generation too: {@code compute_100f}. */
    FAMILY("f"),
    /** No other GPU: {@code compute_90a}. */
    ARCHITECTURE("a");

    private final String suffix;

    Specificity(String suffix) {
        this.suffix = suffix;
    }

    /** Returns the suffix of the number: empty, {@code f} or {@code a}. */
    public String suffix() {
        return suffix;
    }

    /**
     * Returns whether PTX can be compiled for a GPU.
     *
     * @param made the target of the PTX
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
