/**
 * Machine code that is known by hash: images that whoever runs the manager has named, written by {@code tessera fence --trust} and read by that manager's executors, and the
 * cubins of NVIDIA's and PyTorch's wheels. Start with {@link io.tessera.guardian.trust.TrustList} and {@link io.tessera.guardian.trust.VendorCode}. JDK only.
 */
package io.tessera.guardian.trust;
