package io.tessera.autotalk.header;

import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.EntryParameter;
import io.tessera.autotalk.description.Field;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.ParameterDirection;
import io.tessera.autotalk.description.TypeClass;
import io.tessera.autotalk.description.TypeName;
import io.tessera.autotalk.input.InputException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Reads the headers of a driver into a description.
 *
 * <p>A driver header declares each function under the name that programs write, and maps it by macro to the exported
 * name: which name depends on the macros that the including file defines. So the headers are translated three times: plainly; for
 * programs that want the per-thread default stream (names ending in {@code _ptsz}, {@code _ptds}); and as the vendor's
 * own sources see them, which is the only place where the superseded forms of entries are declared. The three are
 * merged by exported name and must agree. Not thread-safe.
 */
public final class HeaderReader {
    /** Macros that an including file defines in each of the three translations. */
    private static final List<List<String>> TRANSLATIONS = List.of(List.of(),
            List.of("CUDA_API_PER_THREAD_DEFAULT_STREAM"), List.of("__CUDA_API_VERSION_INTERNAL"));
    private static final String VERSION_MACRO = "CUDA_VERSION";

    /** A header: its path as the user gave it, and its text. */
    public record Header(String path, String text) {
        String fileName() {
            return path.substring(path.lastIndexOf('/') + 1);
        }
    }

    /** An exported function as one translation declares it. */
    private record Declared(Prototype prototype, String api) {
    }

    private final String library;
    private final TypeTranslation translation = new TypeTranslation();
    private final Map<String, Declared> declared = new LinkedHashMap<>();
    private long version;

    private HeaderReader(String library) {
        this.library = library;
    }

    /**
     * Reads headers.
     *
     * @param library short name of the library
     * @param headers headers in the order in which a program would include them; {@code cuda.h} first
     * @param names   exported names known from other sources, by the name of their list; empty: none is known
     * @throws InputException if a header cannot be parsed, with its file and line
     */
    public static Description read(String library, List<Header> headers, Map<String, ? extends List<String>> names) {
        HeaderReader reader = new HeaderReader(library);
        for (List<String> defines : TRANSLATIONS) {
            reader.translate(headers, defines);
        }
        return reader.describe(headers, names);
    }

    private void translate(List<Header> headers, List<String> defines) {
        Preprocessor preprocessor = new Preprocessor(defines);
        headers.forEach(header -> preprocessor.read(header.path(), header.text()));
        version = preprocessor.integer(VERSION_MACRO);
        for (Prototype prototype : new CDeclarationParser().parse(preprocessor.tokens())) {
            Token name = prototype.name();
            boolean renamed = !name.origin().equals(name.text());
            String api = renamed && !Entry.withoutTwin(name.text()).equals(name.origin()) ? name.origin()
                    : Entry.stem(name.text());
            Declared before = declared.putIfAbsent(name.text(), new Declared(prototype, api));
            if (before != null && !shape(before.prototype()).equals(shape(prototype))) {
                throw new InputException(name.file(), name.line(), name.text() + " is declared otherwise than in line "
                        + before.prototype().name().line() + ": " + shape(prototype) + " and "
                        + shape(before.prototype()));
            }
        }
    }

    /** Returns what a caller must pass, independent of the names of types: two declarations of one entry must agree in it. */
    private static String shape(Prototype prototype) {
        StringBuilder text = new StringBuilder(shape(prototype.returns())).append('(');
        prototype.parameters().forEach(parameter -> text.append(shape(parameter.type())).append(';'));
        return text.append(')').toString();
    }

    private static String shape(CType type) {
        return switch (type.resolved()) {
            case CType.Basic basic -> basic.spelling();
            case CType.Enumeration ignored -> "int";
            case CType.Pointer pointer -> shape(pointer.to()) + "*";
            case CType.Aggregate aggregate when aggregate.isComplete() ->
                "struct/" + DataLayout.size(aggregate) + "/" + DataLayout.alignment(aggregate);
            case CType.Aggregate aggregate -> "struct " + aggregate.tag();
            default -> "function";
        };
    }

    private Description describe(List<Header> headers, Map<String, ? extends List<String>> names) {
        Map<String, String> listOf = new TreeMap<>();
        names.forEach((list, exported) -> exported.forEach(name -> listOf.putIfAbsent(name, list)));
        SortedSet<String> all = new TreeSet<>(listOf.keySet());
        all.addAll(declared.keySet());
        NavigableMap<String, Entry> entries = new TreeMap<>();
        for (String name : all) {
            boolean exported = listOf.isEmpty() || listOf.containsKey(name);
            String plain = Entry.withoutTwin(name);
            boolean folded = !plain.equals(name) && foldable(plain, name, listOf);
            if (!folded) {
                entries.put(name, entry(name, exported, listOf));
            }
        }
        List<String> sources = new ArrayList<>();
        headers.forEach(header -> sources.add(source(header.fileName())));
        names.forEach((list, exported) -> sources.add(list + " (" + exported.size() + " names)"));
        NavigableMap<String, NamedType> types = usedTypes(entries);
        return new Description(library, sources, types, fields(types), entries);
    }

    /** Returns whether a per-thread name adds no information to its plain entry's line. */
    private boolean foldable(String plain, String twin, Map<String, String> listOf) {
        Declared entry = declared.get(plain);
        Declared other = declared.get(twin);
        boolean sameExport = listOf.isEmpty() || listOf.containsKey(plain) == listOf.containsKey(twin);
        boolean unknown = entry == null && other == null;
        boolean same = unknown || entry != null && (other == null
                || shape(entry.prototype()).equals(shape(other.prototype())));
        return sameExport && same && (declared.containsKey(plain) || listOf.containsKey(plain));
    }

    private Entry entry(String name, boolean exported, Map<String, String> listOf) {
        Optional<String> twin = List.of(name + "_ptsz", name + "_ptds").stream()
                .filter(other -> (declared.containsKey(other) || listOf.containsKey(other))
                        && foldable(name, other, listOf))
                .findFirst();
        Declared known = declared.get(name);
        if (known == null) {
            return new Entry(name, Entry.stem(name), twin, listOf.get(name), exported, Entry.Since.UNKNOWN,
                    Optional.empty());
        }
        Token where = known.prototype().name();
        List<EntryParameter> parameters = new ArrayList<>();
        for (CType.Variable parameter : known.prototype().parameters()) {
            TypeName type = translation.translate(parameter.type(), where);
            parameters.add(new EntryParameter(parameter.name(), direction(type), type));
        }
        TypeName returns = translation.translate(known.prototype().returns(), where);
        String header = where.file().substring(where.file().lastIndexOf('/') + 1);
        return new Entry(name, known.api(), twin, source(header), exported, Entry.Since.UNKNOWN,
                Optional.of(new Entry.Signature(returns, parameters)));
    }

    private String source(String fileName) {
        return version < 0 ? fileName : fileName + " " + version;
    }

    private static ParameterDirection direction(TypeName type) {
        return !type.isPointer() || type.targetConst() ? ParameterDirection.IN : ParameterDirection.INOUT;
    }

    /** Returns the named types that entries use. */
    private NavigableMap<String, NamedType> usedTypes(Map<String, Entry> entries) {
        NavigableMap<String, NamedType> used = new TreeMap<>();
        for (Entry entry : entries.values()) {
            entry.signature().ifPresent(signature -> {
                keep(used, signature.returns());
                signature.parameters().forEach(parameter -> keep(used, parameter.type()));
            });
        }
        return used;
    }

    /** Returns the members of the structures among types. Types of members are added to the types and examined, too. */
    private NavigableMap<String, List<Field>> fields(NavigableMap<String, NamedType> types) {
        NavigableMap<String, List<Field>> fields = new TreeMap<>();
        Deque<String> open = new ArrayDeque<>(types.keySet());
        while (!open.isEmpty()) {
            String name = open.pop();
            CType.Aggregate aggregate = translation.aggregate(name);
            if (aggregate == null || fields.containsKey(name)) {
                continue;
            }
            Token where = declared.values().iterator().next().prototype().name();
            fields.put(name, StructureFields.of(aggregate, translation, where));
            for (Field field : fields.get(name)) {
                keep(types, field.type());
                open.push(field.type().base());
            }
        }
        return fields;
    }

    private void keep(NavigableMap<String, NamedType> used, TypeName type) {
        NamedType named = translation.types().get(type.base());
        if (named != null && (named.typeClass() != TypeClass.VOID || NamedType.ofLanguage(type.base()).isEmpty())) {
            used.put(type.base(), named);
        }
    }
}
