package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;

import java.util.Comparator;
import java.util.List;

/** Writes the table for cuGetProcAddress without a vendor's driver: entries by name, version and twin. */
final class RelayLookup {
    private final Decisions decisions;

    RelayLookup(Decisions decisions) {
        this.decisions = decisions;
    }

    String text() {
        List<Description.Export> rows = decisions.description().exports().stream().filter(export -> since(export) > 0)
                .sorted(Comparator.comparing((Description.Export export) -> Entry.stem(export.name()))
                        .thenComparing(Description.Export::perThread).thenComparing(RelayLookup::since))
                .toList();
        StringBuilder text = new StringBuilder(FileNotice.TEXT);
        text.append("#include \"relay/entry/lookup.h\"\n#include \"tessera_entries.h\"\n\n");
        text.append("const unsigned relay_lookup_count = ").append(rows.size()).append(";\n");
        text.append("const struct relay_lookup relay_lookups[] = {\n");
        rows.forEach(export -> text.append("    {\"").append(Entry.stem(export.name())).append("\", ENTRY_")
                .append(export.name()).append(", ").append(export.perThread() ? 1 : 0).append(", ")
                .append(since(export)).append("},\n"));
        return text.append("};\n").toString();
    }

    private static int since(Description.Export export) {
        Entry.Since since = export.entry().since();
        return RelaySenders.plain(export) ? since.plain() : since.perThread();
    }
}
