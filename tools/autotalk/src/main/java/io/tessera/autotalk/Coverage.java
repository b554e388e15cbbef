package io.tessera.autotalk;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Writes {@code COVERAGE.md}: how each entry is served, the variants of one call in one row. */
final class Coverage {
    private Coverage() {
    }

    static String text(Description description, List<Served> served) {
        Map<String, Long> counts = served.stream().collect(
                Collectors.groupingBy(s -> s.service().getClass().getSimpleName(), TreeMap::new,
                        Collectors.counting()));
        StringBuilder md = new StringBuilder("# How each driver entry is served\n\nWritten by `tools/autotalk`"
                + " from `api/cuda.api` and `api/cuda.annotations`; the build fails when it is out of date.\nRead from ");
        md.append(String.join(", ", new TreeMap<>(description.sources()).entrySet().stream()
                .map(e -> e.getKey() + " " + e.getValue()).toList()));
        md.append(".\n\n| served | entries | meaning |\n| --- | --- | --- |\n");
        row(md, "submit", counts.get("Submit"), "passes the gate, counted as a submission");
        row(md, "sync", counts.get("Sync"), "marks the thread as waiting for the device");
        row(md, "hook", counts.get("Hook"), "written by hand: memory, contexts, captures, lookups");
        row(md, "pass", counts.get("Pass"), "a jump to the vendor's entry");
        md.append("\nAll ").append(served.size()).append(" are exported.\n\n| call | forms | served |\n| --- | --- | --- |\n");
        Map<String, Map<String, List<Served>>> rows = served.stream().collect(Collectors.groupingBy(
                s -> s.entry().apiName(), TreeMap::new, Collectors.groupingBy(Coverage::word, TreeMap::new,
                        Collectors.toList())));
        rows.forEach((name, byService) -> byService.forEach((word, entries) -> md.append("| ").append(name)
                .append(" | ").append(forms(name, entries)).append(" | ").append(word).append(" |\n")));
        return md.toString();
    }

    private static void row(StringBuilder md, String word, Long count, String meaning) {
        md.append("| ").append(word).append(" | ").append(count == null ? 0 : count).append(" | ").append(meaning)
                .append(" |\n");
    }

    private static String forms(String name, List<Served> entries) {
        return String.join(" ", entries.stream().map(s -> s.entry().abiName().substring(name.length()))
                .map(suffix -> suffix.isEmpty() ? "plain" : suffix).toList());
    }

    private static String word(Served s) {
        return switch (s.service()) {
            case Service.Pass() -> s.entry().parameters().isEmpty() ? "pass (in no header)" : "pass";
            case Service.Submit(String kind, String stream) -> "submit " + kind;
            case Service.Sync() -> "sync";
            case Service.Hook() -> "hook";
        };
    }
}
