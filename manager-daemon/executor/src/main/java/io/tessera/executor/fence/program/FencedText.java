package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.verify.LinkInterface;

/**
 * One rewritten module. The text must not be modified.
 *
 * @param text   PTX without a final NUL
 * @param tables the tables that are needed to load it
 * @param link   the interface that is checked before it is linked with others; null if it is not linked, or was not checked
 */
public record FencedText(byte[] text, FencedTables tables, LinkInterface link) {
}
