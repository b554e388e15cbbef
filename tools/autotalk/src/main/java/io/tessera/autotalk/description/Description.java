package io.tessera.autotalk.description;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * All entries of a driver library.
 *
 * @param library its short name, {@code cuda} or {@code nvml}
 * @param sources headers and lists from which it was read, with versions
 * @param types   named types that entries use, by name; without types of the language
 * @param fields  members of structures and unions, by the type's name
 * @param entries by exported name, per-thread twins folded into their plain entry
 */
public record Description(String library, List<String> sources, NavigableMap<String, NamedType> types,
        NavigableMap<String, List<Field>> fields, NavigableMap<String, Entry> entries) {
    /** Copies the collections. */
    public Description {
        sources = List.copyOf(sources);
        types = Collections.unmodifiableNavigableMap(new TreeMap<>(types));
        fields = Collections.unmodifiableNavigableMap(new TreeMap<>(fields));
        entries = Collections.unmodifiableNavigableMap(new TreeMap<>(entries));
    }

    /**
     * One exported symbol.
     *
     * @param name      the symbol
     * @param entry     the entry that describes it
     * @param perThread whether stream 0 is the per-thread one
     */
    public record Export(String name, Entry entry, boolean perThread) {
    }

    /** Returns all exported symbols, sorted by name; a symbol's position is its index in the generated tables. */
    public List<Export> exports() {
        List<Export> exports = new ArrayList<>();
        for (Entry entry : entries.values()) {
            if (entry.exported()) {
                exports.add(new Export(entry.name(), entry, Entry.isTwin(entry.name())));
                entry.perThread().ifPresent(twin -> exports.add(new Export(twin, entry, true)));
            }
        }
        exports.sort(Comparator.comparing(Export::name));
        return exports;
    }

    /** Returns a type by name, of the library or of the language. */
    public Optional<NamedType> type(String name) {
        return type(types, name);
    }

    /** Returns how a parameter is passed, as {@code u64}, {@code handle}, {@code pointer(8)} or {@code value(64,1)}. */
    public String passing(TypeName type) {
        return passing(types, type);
    }

    static String passing(Map<String, NamedType> types, TypeName type) {
        if (!type.isPointer()) {
            return type(types, type.base()).map(NamedType::passing).orElse("unknown");
        }
        TypeName target = type.target();
        int bytes = target.isPointer() ? NamedType.POINTER_BYTES
                : type(types, target.base()).map(NamedType::bytes).orElse(0);
        return bytes == 0 ? "pointer" : "pointer(" + bytes + ")";
    }

    private static Optional<NamedType> type(Map<String, NamedType> types, String name) {
        return Optional.ofNullable(types.get(name)).or(() -> NamedType.ofLanguage(name));
    }
}
