package io.tessera.software.driver.module;

/**
 * A kernel of a library (CUkernel).
 *
 * @param library  whose it is
 * @param function the function that it is on the device
 */
public record LibraryKernel(Library library, DeviceFunction function) {
}
