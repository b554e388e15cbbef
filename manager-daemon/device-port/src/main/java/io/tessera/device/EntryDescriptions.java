package io.tessera.device;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The descriptions of all entries; read once, immutable and thread-safe. */
public final class EntryDescriptions {
    private static final String ENTRY_RESOURCE = "cuda.entries";
    private static final DriverEntry[] ENTRIES = DriverEntry.values();
    private static final EntryDescription[] DESCRIPTIONS = DescriptionReader.read(DescriptionResource.lines(ENTRY_RESOURCE));

    private EntryDescriptions() {
    }

    /** Returns the description of an entry. */
    public static EntryDescription of(DriverEntry entry) {
        return DESCRIPTIONS[entry.ordinal()];
    }

    /** Returns all descriptions, by ordinal. */
    public static List<EntryDescription> all() {
        return List.of(DESCRIPTIONS);
    }

    /** Returns the entry with an index, as a record of the relay names it; empty where there is none. */
    public static Optional<DriverEntry> ofIndex(int index) {
        return index >= 0 && index < ENTRIES.length ? Optional.of(ENTRIES[index]) : Optional.empty();
    }

    /** Returns the entry with an exported name; empty where the driver exports no such name. */
    public static Optional<DriverEntry> ofName(String name) {
        int index = Arrays.binarySearch(ENTRIES, name, (left, right) -> left.toString().compareTo(right.toString()));
        return ofIndex(index);
    }
}
