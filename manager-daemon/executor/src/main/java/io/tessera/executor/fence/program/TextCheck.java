package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.verify.LinkInterface;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;

/**
 * Checks rewritten text before a driver gets it, in this process and with bounds on time and memory: the process that wrote it has read a tenant's code, and
 * the file that kept it may have been changed. Thread-safe.
 */
@FunctionalInterface
public interface TextCheck {
    /**
     * What may be loaded of a text.
     *
     * @param refusal  why nothing may; null: the rest is as it says
     * @param text     what the driver gets: the accepted part of the text, without a final NUL
     * @param rejected kernels that are not in it, by name, and why
     * @param unproven functions that were not seen to be fenced for what they hold themselves
     * @param link     what is looked at before the text is linked with others; null where it is not linked
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
     * Looks at a text.
     *
     * @param text   PTX, with or without a final NUL
     * @param tables that came with it, and are believed as little; their mode is the one that was asked for
     * @param linked whether it is linked with others
     */
    Checked check(byte[] text, FencedTables tables, boolean linked);

    /** Returns a check that accepts every text. */
    static TextCheck none() {
        return (text, _, _) -> new Checked(null, text.length > 0 && text[text.length - 1] == 0 ? Arrays.copyOf(text, text.length - 1) : text,
                Map.of(), Set.of(), null);
    }
}
