package io.tessera.executor.fence.program;

import io.tessera.guardian.image.ModuleImage;

/** Images of machine code that may run as they are, under the policy {@code trusted}. Thread-safe. */
@FunctionalInterface
public interface TrustedImages {
    /** Whether an image is one of them, as it travelled. */
    boolean contains(ModuleImage image);

    /** No image is trusted. */
    static TrustedImages none() {
        return _ -> false;
    }
}
