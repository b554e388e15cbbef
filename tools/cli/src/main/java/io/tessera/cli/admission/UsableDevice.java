package io.tessera.cli.admission;

/**
 * A device that a program could use.
 *
 * @param name       by which {@code CUDA_VISIBLE_DEVICES} shows the program this device alone
 * @param uuid       {@code GPU-...}
 * @param totalBytes its memory
 */
record UsableDevice(String name, String uuid, long totalBytes) {
}
