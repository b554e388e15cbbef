package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.verify.LinkInterface;

/**
 * An input of the JIT's linker.
 *
 * @param ptx    the fenced text; null: the input goes to the driver as it is
 * @param tables of the fenced text; null as well
 * @param link   the interface of the fenced text to other inputs; null as well
 */
public record LinkInput(byte[] ptx, FencedTables tables, LinkInterface link) {
}
