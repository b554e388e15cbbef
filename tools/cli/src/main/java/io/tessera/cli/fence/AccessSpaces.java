package io.tessera.cli.fence;

import java.util.List;
import java.util.Map;

/** Sums a report's classes of accesses ({@code ld.global.v4}, {@code ld (generic)}) by the memory they reach. Stateless. */
final class AccessSpaces {
    private static final String OTHER = "other";
    /** In the order of the table's columns. */
    static final List<String> NAMES = List.of("global", "generic", "shared", "local", OTHER);

    private AccessSpaces() {
    }

    /** Returns how many accesses reach a space. */
    static int count(Map<String, Integer> accesses, String space) {
        return accesses.entrySet().stream().filter(one -> spaceOf(one.getKey()).equals(space))
                .mapToInt(Map.Entry::getValue).sum();
    }

    private static String spaceOf(String accessClass) {
        return NAMES.stream().filter(name -> !name.equals(OTHER) && accessClass.contains(name)).findFirst()
                .orElse(OTHER);
    }
}
