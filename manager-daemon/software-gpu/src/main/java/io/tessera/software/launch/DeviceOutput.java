package io.tessera.software.launch;

/**
 * Takes what kernels print: formatted text of printf and messages of failed assertions, one call for each, in the order
 * in which the device did them. Called from worker threads, one at a time.
 */
@FunctionalInterface
public interface DeviceOutput {
    /** Takes text; the array belongs to the receiver. */
    void print(byte[] text);
}
