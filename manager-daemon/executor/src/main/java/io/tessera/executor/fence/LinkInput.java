package io.tessera.executor.fence;

import io.tessera.guardian.cache.FencedTables;

/**
 * An input of the JIT's linker.
 *
 * @param ptx    the fenced text; null: the input goes to the driver as it is
 * @param tables of the fenced text; null as well
 */
public record LinkInput(byte[] ptx, FencedTables tables) {
}
