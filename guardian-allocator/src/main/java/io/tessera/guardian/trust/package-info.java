/**
 * Machine code that is trusted by hash. These are the images that the user who runs the manager has named (written by {@code tessera fence --trust}
 * and read by that manager's executors), and the cubins of NVIDIA's and PyTorch's wheels. This package also lists the GPUs on which fences in machine
 * code are trusted ({@link io.tessera.guardian.trust.FencedArchitectures}). Start with {@link io.tessera.guardian.trust.TrustList} and {@link
 * io.tessera.guardian.trust.VendorCode}. It uses no library but the JDK.
 */
package io.tessera.guardian.trust;
