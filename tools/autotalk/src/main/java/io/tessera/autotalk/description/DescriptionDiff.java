package io.tessera.autotalk.description;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The differences between two descriptions of one library, for example after a new driver: entries added, removed, and changed, with the
 * old and new form of each change.
 *
 * @param added   entries only in the newer description
 * @param removed entries only in the older description
 * @param changed entries that differ: a line for each difference
 */
public record DescriptionDiff(List<String> added, List<String> removed, List<String> changed) {
    /** Copies the lists. */
    public DescriptionDiff {
        added = List.copyOf(added);
        removed = List.copyOf(removed);
        changed = List.copyOf(changed);
    }

    /** Compares two descriptions. The source of an entry does not count as a difference. */
    public static DescriptionDiff between(Description older, Description newer) {
        List<String> added = new ArrayList<>();
        List<String> removed = new ArrayList<>();
        List<String> changed = new ArrayList<>();
        SortedSet<String> names = new TreeSet<>(older.entries().keySet());
        names.addAll(newer.entries().keySet());
        for (String name : names) {
            Entry before = older.entries().get(name);
            Entry after = newer.entries().get(name);
            if (before == null) {
                added.add(form(newer, after));
            } else if (after == null) {
                removed.add(form(older, before));
            } else {
                compare(changed, name, form(older, before), form(newer, after));
                compare(changed, name, "per-thread " + before.perThread().orElse("none"),
                        "per-thread " + after.perThread().orElse("none"));
            }
        }
        return new DescriptionDiff(added, removed, changed);
    }

    private static void compare(List<String> changed, String name, String before, String after) {
        if (!before.equals(after)) {
            changed.add(name + ": " + before + " -> " + after);
        }
    }

    /** Returns an entry as a prototype, with how each parameter is passed: a structure that has grown is a difference. */
    private static String form(Description description, Entry entry) {
        if (entry.signature().isEmpty()) {
            return entry.name() + "(unknown)";
        }
        StringBuilder text = new StringBuilder(entry.name()).append('(');
        List<String> parameters = new ArrayList<>();
        for (EntryParameter parameter : entry.signature().get().parameters()) {
            parameters.add(description.passing(parameter.type()) + " " + parameter.type() + " " + parameter.name());
        }
        return text.append(String.join(", ", parameters)).append(')').toString();
    }

    /** Returns whether there is no difference. */
    public boolean isEmpty() {
        return added.isEmpty() && removed.isEmpty() && changed.isEmpty();
    }

    /** Returns a line for each difference, marked {@code +}, {@code -} or {@code ~}. */
    public String text() {
        StringBuilder text = new StringBuilder();
        removed.forEach(line -> text.append("- ").append(line).append('\n'));
        added.forEach(line -> text.append("+ ").append(line).append('\n'));
        changed.forEach(line -> text.append("~ ").append(line).append('\n'));
        return text.toString();
    }
}
