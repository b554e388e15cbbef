package io.tessera.device;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The descriptions of all entries; read once, immutable and thread-safe. */
public final class EntryDescriptions {
    private static final String ENTRY_RESOURCE = "cuda.entries";
    private static final String STRUCTURE_RESOURCE = "cuda.structures";
    private static final DriverEntry[] ENTRIES = DriverEntry.values();
    private static final EntryDescription[] DESCRIPTIONS = DescriptionReader.read(lines(ENTRY_RESOURCE));
    private static final Map<String, StructureDescription> STRUCTURES = StructureReader.read(lines(STRUCTURE_RESOURCE));

    private EntryDescriptions() {
    }

    /** The description of an entry. */
    public static EntryDescription of(DriverEntry entry) {
        return DESCRIPTIONS[entry.ordinal()];
    }

    /** All of them, by ordinal. */
    public static List<EntryDescription> all() {
        return List.of(DESCRIPTIONS);
    }

    /** The entry with an index, as a record of the relay names it; empty where there is none. */
    public static Optional<DriverEntry> ofIndex(int index) {
        return index >= 0 && index < ENTRIES.length ? Optional.of(ENTRIES[index]) : Optional.empty();
    }

    /** The entry with an exported name; empty where the driver exports no such name. */
    public static Optional<DriverEntry> ofName(String name) {
        int index = Arrays.binarySearch(ENTRIES, name, (left, right) -> left.toString().compareTo(right.toString()));
        return ofIndex(index);
    }

    /** The structure behind a parameter or pointer of a C type; empty where nothing in it needs a look. */
    static Optional<StructureDescription> structure(String type) {
        return Optional.ofNullable(STRUCTURES.get(type));
    }

    private static List<String> lines(String resource) {
        try (InputStream stream = EntryDescriptions.class.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IllegalStateException(resource + " is missing beside " + EntryDescriptions.class.getName());
            }
            return new String(stream.readAllBytes(), StandardCharsets.US_ASCII).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
