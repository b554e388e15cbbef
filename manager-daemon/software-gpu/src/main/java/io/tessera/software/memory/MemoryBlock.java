package io.tessera.software.memory;

/**
 * A piece of device memory.
 *
 * @param address its begin
 * @param bytes   size as asked for
 */
public record MemoryBlock(long address, long bytes) {
}
