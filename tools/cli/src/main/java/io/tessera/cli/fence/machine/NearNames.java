package io.tessera.cli.fence.machine;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Suggests names similar to one that was not found. Stateless. */
final class NearNames {
    private static final int MOST = 5;
    /** Maximum length of a name; counting the edits of longer ones would take long. */
    private static final int LONGEST = 400;

    private NearNames() {
    }

    /** Returns the names that contain the wanted one, or else those that are few edits away, nearest first. */
    static List<String> of(String wanted, Collection<String> names) {
        String lower = wanted.toLowerCase(Locale.ROOT);
        List<String> containing = names.stream().filter(name -> name.toLowerCase(Locale.ROOT).contains(lower)).distinct()
                .sorted(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder())).limit(MOST).toList();
        if (!containing.isEmpty()) {
            return containing;
        }
        int most = Math.max(2, wanted.length() / 3);
        return names.stream().distinct().filter(name -> Math.abs(name.length() - wanted.length()) <= most && name.length() <= LONGEST)
                .map(name -> new Near(name, edits(wanted, name))).filter(near -> near.edits <= most)
                .sorted(Comparator.comparingInt(Near::edits).thenComparing(Near::name)).limit(MOST).map(Near::name).toList();
    }

    private record Near(String name, int edits) {
    }

    /** Returns the number of characters to insert, remove or replace (Levenshtein distance). */
    private static int edits(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
