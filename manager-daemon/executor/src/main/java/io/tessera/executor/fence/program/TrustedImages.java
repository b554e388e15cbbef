package io.tessera.executor.fence.program;

import io.tessera.guardian.image.ModuleImage;

/** What is known of machine code by its hash. The user who runs the manager says it, and no other user. Thread-safe. */
public interface TrustedImages {
    /** Returns whether an image, as it travelled, may run as it is under the policy {@code trusted}. */
    boolean mayRunAsItIs(ModuleImage image);

    /**
     * Returns whether a cubin is as a vendor's compiler made it, so that its branches go where its compiler meant them to go, also beside other users'
     * programs.
     *
     * @param hash of the cubin, unpacked
     */
    boolean isVendors(String hash);

    /** Nothing is known. */
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
