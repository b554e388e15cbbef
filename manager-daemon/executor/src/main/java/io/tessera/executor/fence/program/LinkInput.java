package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.verify.LinkInterface;

/**
 * An input of the JIT's linker.
 *
 * @param ptx    the fenced text; null: the input goes to the driver unchanged, and the other two are null as well
 * @param tables the tables of the fenced text
 * @param link   the interface of the fenced text to other inputs
 */
public record LinkInput(byte[] ptx, FencedTables tables, LinkInterface link) {
}
