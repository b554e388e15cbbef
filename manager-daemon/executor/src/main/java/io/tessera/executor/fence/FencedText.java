package io.tessera.executor.fence;

import io.tessera.guardian.cache.FencedTables;

/**
 * One module, rewritten. Nobody writes to the text.
 *
 * @param text   PTX without a final NUL
 * @param tables what is needed to load it
 */
record FencedText(byte[] text, FencedTables tables) {
}
