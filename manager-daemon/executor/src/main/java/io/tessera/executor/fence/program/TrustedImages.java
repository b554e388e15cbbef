package io.tessera.executor.fence.program;

import io.tessera.guardian.image.ModuleImage;

/** Facts about machine code by its hash. Only the user who runs the manager can declare them. Thread-safe. */
public interface TrustedImages {
    /** Returns whether an image, as it travelled, may run as it is under the policy {@code trusted}. */
    boolean mayRunAsItIs(ModuleImage image);

    /**
     * Returns whether a cubin is the unchanged output of a vendor's compiler, so that its branches are trusted to go where the compiler intended, even beside
     * other users' programs.
     *
     * @param hash of the cubin, unpacked
     */
    boolean isVendors(String hash);

    /** Returns an instance without facts. */
    static TrustedImages none() {
        return new TrustedImages() {
            @Override
            public boolean mayRunAsItIs(ModuleImage image) {
                return false;
            }

            @Override
            public boolean isVendors(String hash) {
                return false;
            }
        };
    }
}
