package io.tessera.autotalk.annotation;

import io.tessera.autotalk.description.Entry;

import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * A pattern over entry names: a name, or one with {@code *} for any run of letters, digits and underscores.
 *
 * <p>It is held against the exported name without its per-thread ending, and against that without its version too, so
 * that {@code cuMemAlloc} speaks of {@code cuMemAlloc} and {@code cuMemAlloc_v2}, and {@code cuMemAlloc_v2} of the latter
 * alone.
 *
 * @param text the pattern
 */
public record NamePattern(String text) {

    /** Whether it speaks of this entry. */
    public boolean matches(Entry entry) {
        return subjects(entry).stream().anyMatch(regex().asMatchPredicate());
    }

    /** Whether it matches a plain name, as a parameter's. */
    public boolean matches(String name) {
        return regex().matcher(name).matches();
    }

    /**
     * How narrowly it speaks, for choosing between patterns that match: a name with its version before a name, a name
     * before any pattern with a star, a longer pattern before a shorter one.
     */
    public int narrowness() {
        boolean exact = text.indexOf('*') < 0;
        boolean versioned = exact && !Entry.stem(text).equals(text);
        return text.length() + (exact ? 1000 : 0) + (versioned ? 1000 : 0);
    }

    private static Set<String> subjects(Entry entry) {
        Set<String> names = new TreeSet<>();
        names.add(Entry.withoutTwin(entry.name()));
        names.add(Entry.stem(entry.name()));
        return names;
    }

    private Pattern regex() {
        return Pattern.compile(text.replace("*", "[A-Za-z0-9_]*"));
    }
}
