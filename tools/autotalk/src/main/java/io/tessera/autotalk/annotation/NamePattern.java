package io.tessera.autotalk.annotation;

import io.tessera.autotalk.description.Entry;

/**
 * A pattern over entry names: a name, or one with {@code *} for any run of characters, none included.
 *
 * <p>It is compared with the exported name without its per-thread suffix, and also without its version. So {@code cuMemAlloc} matches
 * {@code cuMemAlloc} and {@code cuMemAlloc_v2}, and {@code cuMemAlloc_v2} matches only the latter. {@code cuMemAlloc_v1} matches only the
 * first version, whose exported name has no number.
 *
 * @param text the pattern
 */
public record NamePattern(String text) {
    private static final String FIRST_VERSION = "_v1";

    /** Returns whether it matches an entry. */
    public boolean matches(Entry entry) {
        String versioned = Entry.withoutTwin(entry.name());
        return matches(versioned) || matches(Entry.stem(versioned))
                || entry.version() == 1 && text.equals(versioned + FIRST_VERSION);
    }

    /** Returns whether it matches a plain name, such as a parameter's. */
    public boolean matches(String name) {
        return text.equals(name) || text.contains("*") && matches(0, name, 0);
    }

    /**
     * Returns how narrow it is, to choose between matching patterns: a name with its version before a name, a name before any pattern with
     * a star, a longer pattern before a shorter one.
     */
    public int narrowness() {
        boolean exact = text.indexOf('*') < 0;
        boolean versioned = exact && !Entry.stem(text).equals(text);
        return text.length() + (exact ? 1000 : 0) + (versioned ? 1000 : 0);
    }

    private boolean matches(int at, String name, int from) {
        if (at == text.length()) {
            return from == name.length();
        }
        if (text.charAt(at) == '*') {
            return matches(at + 1, name, from) || from < name.length() && matches(at, name, from + 1);
        }
        return from < name.length() && name.charAt(from) == text.charAt(at) && matches(at + 1, name, from + 1);
    }
}
