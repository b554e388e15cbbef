package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.verify.LinkInterface;

/**
 * One module, rewritten. Nobody writes to the text.
 *
 * @param text   PTX without a final NUL
 * @param tables what is needed to load it
 * @param link   what is looked at before it is linked with others; null where it is not linked, or nobody has looked at it
 */
public record FencedText(byte[] text, FencedTables tables, LinkInterface link) {
}
