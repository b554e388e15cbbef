package io.tessera.autotalk.coverage;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.RelayServing;
import io.tessera.autotalk.annotation.Serving;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The coverage page: counts, then a row for each API name with its exported variants. Stateless. */
public final class CoveragePage {
    private CoveragePage() {
    }

    /** One row: an API name under one decision of each port. */
    private record Row(String api, String label, String relay) implements Comparable<Row> {
        @Override
        public int compareTo(Row other) {
            return Comparator.comparing(Row::api).thenComparing(Row::label).thenComparing(Row::relay)
                    .compare(this, other);
        }
    }

    /**
     * The page.
     *
     * @param libraries the libraries, without problems, in the order of the page
     */
    public static String text(List<Decisions> libraries) {
        StringBuilder text = new StringBuilder("# How each driver entry is served\n\n");
        text.append("Written by `autotalk coverage`; the build fails when it is out of date. ");
        text.append("The decisions stand in `api/*.annotations` and `api/*.relay`.\n\n");
        text.append("Time sharing, the direct port:\n");
        text.append("- **pass**: one jump to the vendor's entry, whatever its arguments.\n");
        text.append("- **submit**: a generated wrapper goes through the gate of the device, and counts under the kind.\n");
        text.append("- **sync**: a generated wrapper counts the wait.\n");
        text.append("- **room**: a generated wrapper makes the call again while other programs make room on the device.\n");
        text.append("- **hook**: written by hand in `src/`.\n");
        text.append("\nSpace sharing, the relay port:\n");
        text.append("- **local**: written by hand in `src/relay/`: answered in the client, or sent as a record of its own kind.\n");
        text.append("- **call**, **async**: a generated sender; the caller waits for the answer, or does not.\n");
        text.append("- **wrap**: written by hand in front of such a sender.\n");
        text.append("- **refuse**: answered with `CUDA_ERROR_NOT_SUPPORTED` and counted by name.\n");
        libraries.forEach(decisions -> append(text, decisions));
        return text.toString();
    }

    private static void append(StringBuilder text, Decisions decisions) {
        Description description = decisions.description();
        Map<String, Integer> counts = new TreeMap<>();
        Map<String, Integer> relayed = new TreeMap<>();
        Map<Row, List<String>> rows = new TreeMap<>();
        for (Description.Export export : description.exports()) {
            Serving serving = decisions.serving(export.entry()).orElseThrow();
            counts.merge(serving.word(), 1, Integer::sum);
            Optional<RelayServing> relay = decisions.relayServing(export.entry());
            relay.ifPresent(decision -> relayed.merge(decision.word(), 1, Integer::sum));
            Row key = new Row(export.entry().api(), serving.label(), relay.map(CoveragePage::label).orElse(""));
            rows.computeIfAbsent(key, row -> new ArrayList<>())
                    .add(export.name());
        }
        int all = counts.values().stream().mapToInt(Integer::intValue).sum();
        text.append("\n## ").append(description.library()).append(": ").append(all).append(" entries\n\n");
        text.append("Read from ").append(String.join(", ", description.sources())).append(".\n\n");
        appendCounts(text, decisions.relays() ? "direct port" : "served", counts);
        if (decisions.relays()) {
            appendCounts(text.append('\n'), "relay port", relayed);
        }
        appendUndescribed(text, description);
        text.append(decisions.relays() ? "\n| entry | direct | relay | exported as |\n| --- | --- | --- | --- |\n"
                : "\n| entry | served | exported as |\n| --- | --- | --- |\n");
        rows.forEach((row, exported) -> text.append("| ").append(row.api()).append(" | ").append(row.label())
                .append(decisions.relays() ? " | " + row.relay() : "").append(" | ")
                .append(variants(row.api(), exported)).append(" |\n"));
    }

    private static void appendCounts(StringBuilder text, String head, Map<String, Integer> counts) {
        text.append("| ").append(head).append(" | entries |\n| --- | ---: |\n");
        counts.forEach((word, count) -> text.append("| ").append(word).append(" | ").append(count).append(" |\n"));
    }

    private static String label(RelayServing serving) {
        return serving instanceof RelayServing.Refuse refuse ? "refuse: " + refuse.reason() : serving.word();
    }

    private static void appendUndescribed(StringBuilder text, Description description) {
        String unknown = description.entries().values().stream().filter(Entry::exported)
                .filter(entry -> entry.signature().isEmpty()).map(Entry::name).collect(Collectors.joining(", "));
        String absent = description.entries().values().stream().filter(entry -> !entry.exported())
                .map(Entry::name).collect(Collectors.joining(", "));
        boolean some = description.entries().values().stream().anyMatch(entry -> entry.signature().isPresent());
        if (!unknown.isEmpty() && some) {
            text.append("\nExported by the vendor, declared in no header: ").append(unknown).append(".\n");
        }
        if (!absent.isEmpty()) {
            text.append("\nDeclared, but not exported by the vendor on this platform, nor by us: ").append(absent)
                    .append(".\n");
        }
    }

    /** The exported names, the API's own name shortened to a dot: {@code ·, ·_v2, ·_v2_ptsz}. */
    private static String variants(String api, List<String> exported) {
        if (exported.equals(List.of(api))) {
            return "·";
        }
        return exported.stream()
                .map(name -> Entry.stem(name).equals(api) ? "·" + name.substring(api.length()) : name)
                .collect(Collectors.joining(", ")).replace("_", "\\_");
    }
}
