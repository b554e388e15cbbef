package io.tessera.cli.admission;

/**
 * A device that a program could use.
 *
 * @param name       value of {@code CUDA_VISIBLE_DEVICES} that shows the program only this device
 * @param uuid       {@code GPU-...}
 * @param totalBytes size of its memory
 */
record UsableDevice(String name, String uuid, long totalBytes) {
}
