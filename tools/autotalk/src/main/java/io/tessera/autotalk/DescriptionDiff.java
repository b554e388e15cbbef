package io.tessera.autotalk;

import java.util.ArrayList;
import java.util.List;

/** What changed between two descriptions, a line each: {@code +} added, {@code -} gone, {@code ~} other parameters. */
final class DescriptionDiff {
    private DescriptionDiff() {
    }

    static List<String> lines(Description before, Description after) {
        List<String> lines = new ArrayList<>();
        for (Entry entry : before.entries().values()) {
            Entry now = after.entries().get(entry.abiName());
            if (now == null) {
                lines.add("- " + entry.abiName());
            } else if (!signature(entry).equals(signature(now))) {
                lines.add("~ " + entry.abiName() + " " + signature(entry) + " -> " + signature(now));
            }
        }
        for (Entry entry : after.entries().values()) {
            if (!before.entries().containsKey(entry.abiName())) {
                lines.add("+ " + entry.abiName() + " " + signature(entry));
            }
        }
        return lines;
    }

    /** Types only: a renamed parameter changes nothing. */
    private static String signature(Entry entry) {
        return entry.parameters().map(list -> "(" + String.join(", ", list.stream().map(Parameter::type).toList())
                + ")").orElse("unknown");
    }
}
