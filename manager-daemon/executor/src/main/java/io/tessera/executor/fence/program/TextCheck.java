package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.verify.LinkInterface;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;

/**
 * Checks rewritten text before a driver gets it, in this process and with bounds on time and memory. The text is not trusted: the process that wrote it has
 * read a tenant's code. Thread-safe.
 */
@FunctionalInterface
public interface TextCheck {
    /**
     * The part of a text that may be loaded.
     *
     * @param refusal  why nothing may be loaded; null: the other fields apply
     * @param text     what the driver gets: the accepted part of the text, without a final NUL
     * @param rejected kernels that are not in it, by name, and why
     * @param unproven functions that were not shown to be fenced because of their own code
     * @param link     the interface that is checked before the text is linked with others; null if it is not linked
     */
    record Checked(String refusal, byte[] text, Map<String, String> rejected, Set<String> unproven, LinkInterface link) {
        /** Copies the collections. */
        public Checked {
            rejected = Map.copyOf(rejected);
            unproven = Set.copyOf(unproven);
        }

        static Checked refused(String why) {
            return new Checked(why, new byte[0], Map.of(), Set.of(), null);
        }

        /** Returns why not all of it may be loaded; null: all may. */
        String first() {
            return refusal != null || rejected.isEmpty() ? refusal : rejected.values().iterator().next();
        }
    }

    /**
     * Checks a text.
     *
     * @param text   PTX, with or without a final NUL
     * @param tables the tables that came with it, which are not trusted either; their mode is the requested one
     * @param linked whether it is linked with others
     */
    Checked check(byte[] text, FencedTables tables, boolean linked);

    /** Returns a check that accepts every text. */
    static TextCheck none() {
        return (text, _, _) -> new Checked(null, text.length > 0 && text[text.length - 1] == 0 ? Arrays.copyOf(text, text.length - 1) : text,
                Map.of(), Set.of(), null);
    }
}
