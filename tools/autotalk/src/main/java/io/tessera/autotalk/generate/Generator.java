package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.description.Description;

import java.util.Map;
import java.util.TreeMap;

/** Generates the C side of one library. Stateless. */
public final class Generator {
    private Generator() {
    }

    /**
     * Returns all files, by name.
     *
     * @param decisions decisions without problems ({@link Decisions#problems})
     */
    public static Map<String, String> files(Decisions decisions) {
        Description description = decisions.description();
        LibraryNames names = LibraryNames.of(description.library());
        Map<String, String> files = new TreeMap<>();
        files.put(names.headerName(), new EntriesHeader(decisions).text());
        files.put(names.filePrefix() + "trampolines.S", new Trampolines(decisions).text());
        Tables tables = new Tables(decisions);
        files.put(names.filePrefix() + "entry_names.c", tables.entryNames());
        files.put(names.filePrefix() + "hooked_entries.c", tables.hookedEntries());
        files.put(names.filePrefix() + "exports.map", tables.exportMap());
        Wrappers wrappers = new Wrappers(decisions);
        if (wrappers.needed()) {
            files.put(names.filePrefix() + "submit.c", wrappers.text());
        }
        String layouts = CLayouts.text(description);
        if (!layouts.isEmpty()) {
            files.put(CLayouts.HEADER, layouts);
        }
        if (decisions.relays()) {
            files.put("relay_stubs.h", new RelayHeader(decisions).text());
            files.put("relay_senders.c", new RelaySenders(decisions).text());
            files.put("relay_twins.c", new RelayTwins(decisions).text());
            files.put("relay_lookup.c", new RelayLookup(decisions).text());
            files.put("relay_port.c", new RelayPort(decisions).text());
        }
        return files;
    }
}
