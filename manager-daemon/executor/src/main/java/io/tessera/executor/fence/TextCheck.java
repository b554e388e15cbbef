package io.tessera.executor.fence;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.FenceMode;

/**
 * Looks at rewritten text before a driver gets it, in this process and with bounds on time and memory: whoever wrote it has read a
 * tenant's code, and whoever kept it may have kept something else. Thread-safe.
 */
@FunctionalInterface
interface TextCheck {
    /**
     * Why a driver must not get a text; null: it may.
     *
     * @param text   PTX, with or without a final NUL
     * @param tables that came with it, and are believed as little
     * @param mode   that was asked for
     */
    String refusal(byte[] text, FencedTables tables, FenceMode mode);

    /** Whoever wrote the text is believed. */
    static TextCheck none() {
        return (_, _, _) -> null;
    }
}
