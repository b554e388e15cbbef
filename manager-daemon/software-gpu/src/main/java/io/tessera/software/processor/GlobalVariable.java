package io.tessera.software.processor;

/**
 * A variable of a loaded module.
 *
 * @param name    its name
 * @param address its address
 * @param bytes   its size
 */
public record GlobalVariable(String name, long address, long bytes) {
}
