package io.tessera.cli.fence;

import java.util.Arrays;
import java.util.List;

/** Finds the lines of a text that are in another one in the same order (longest common subsequence). Stateless. */
final class LineComparison {
    /** Maximum number of pairs of lines: more would take noticeable time and memory, so nothing is marked. */
    private static final long MOST_PAIRS = 40_000_000;

    private LineComparison() {
    }

    /** Returns for each line of {@code after} whether it is in {@code before}. */
    static boolean[] kept(List<String> before, List<String> after) {
        boolean[] kept = new boolean[after.size()];
        if ((long) before.size() * after.size() > MOST_PAIRS) {
            Arrays.fill(kept, true);
            return kept;
        }
        int[][] common = new int[before.size() + 1][after.size() + 1];
        for (int i = before.size() - 1; i >= 0; i--) {
            for (int j = after.size() - 1; j >= 0; j--) {
                common[i][j] = before.get(i).equals(after.get(j)) ? common[i + 1][j + 1] + 1
                        : Math.max(common[i + 1][j], common[i][j + 1]);
            }
        }
        int i = 0;
        int j = 0;
        while (i < before.size() && j < after.size()) {
            if (before.get(i).equals(after.get(j))) {
                kept[j] = true;
                i++;
                j++;
            } else if (common[i + 1][j] >= common[i][j + 1]) {
                i++;
            } else {
                j++;
            }
        }
        return kept;
    }
}
