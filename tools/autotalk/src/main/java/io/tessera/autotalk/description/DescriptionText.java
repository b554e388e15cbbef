package io.tessera.autotalk.description;

import io.tessera.autotalk.input.InputException;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** The text of a description: one fact a line, sorted, so that a diff shows what changed in the driver. Stateless. */
public final class DescriptionText {
    private static final int FORMAT = 1;

    private DescriptionText() {
    }

    /** Writes a description; {@link #read} returns an equal one. */
    public static String write(Description description) {
        StringBuilder text = new StringBuilder();
        text.append("# Entries of the driver library: names, types and versions, read from headers by 'autotalk describe'.\n");
        text.append("# The grammar is in tools/autotalk/README.md. Not edited by hand: annotations stand beside it.\n");
        text.append("format ").append(FORMAT).append('\n');
        text.append("library ").append(description.library()).append('\n');
        description.sources().forEach(source -> text.append("source ").append(source).append('\n'));
        text.append('\n');
        description.types().values().forEach(type -> {
            text.append(typeLine(type)).append('\n');
            description.fields().getOrDefault(type.name(), List.of())
                    .forEach(field -> text.append(fieldLine(description, field)).append('\n'));
        });
        description.entries().values().forEach(entry -> append(text, description, entry));
        return text.toString();
    }

    private static String typeLine(NamedType type) {
        String head = "type " + type.name() + " = " + type.typeClass().word();
        return switch (type.typeClass()) {
            case SIGNED, UNSIGNED, FLOATING -> head + type.bytes() * Byte.SIZE + " " + type.detail();
            case VALUE -> head + " " + type.bytes() + " " + type.alignment() + " " + type.detail();
            default -> head;
        };
    }

    private static String fieldLine(Description description, Field field) {
        return "  field " + field.path() + " " + field.offset() + " " + field.count() + " "
                + description.passing(field.type()) + " " + field.type();
    }

    private static void append(StringBuilder text, Description description, Entry entry) {
        text.append('\n').append("entry ").append(entry.name()).append('\n');
        text.append("  api ").append(entry.api()).append('\n');
        entry.perThread().ifPresent(twin -> text.append("  per-thread ").append(twin).append('\n'));
        text.append("  from ").append(entry.source()).append('\n');
        if (!entry.since().equals(Entry.Since.UNKNOWN)) {
            text.append("  since ").append(entry.since().plain()).append(' ').append(entry.since().perThread())
                    .append('\n');
        }
        if (!entry.exported()) {
            text.append("  not exported\n");
        }
        if (entry.signature().isEmpty()) {
            text.append("  params unknown\n");
            return;
        }
        Entry.Signature signature = entry.signature().get();
        text.append("  returns ").append(description.passing(signature.returns())).append(' ')
                .append(signature.returns()).append('\n');
        for (EntryParameter parameter : signature.parameters()) {
            text.append("  param ").append(parameter.name()).append(' ').append(parameter.direction().word())
                    .append(' ').append(description.passing(parameter.type())).append(' ').append(parameter.type())
                    .append('\n');
        }
    }

    /**
     * Reads a description.
     *
     * @param file name of the text in messages
     * @throws InputException where the text is not of this format, or contradicts itself
     */
    public static Description read(String file, String text) {
        return new Reader(file, text.lines().toList()).read();
    }

    /** Reads the lines one after another. Not thread-safe. */
    private static final class Reader {
        private final String file;
        private final List<String> lines;
        private final List<String> sources = new ArrayList<>();
        private final NavigableMap<String, NamedType> types = new TreeMap<>();
        private final NavigableMap<String, List<Field>> fields = new TreeMap<>();
        /** Checks of fields, which run at the end, because types may be in later lines. */
        private final List<Runnable> fieldChecks = new ArrayList<>();
        private final NavigableMap<String, Entry> entries = new TreeMap<>();
        private String library = "";
        private boolean formatSeen;
        private int at;

        Reader(String file, List<String> lines) {
            this.file = file;
            this.lines = lines;
        }

        Description read() {
            while (at < lines.size()) {
                String line = lines.get(at++);
                if (line.isBlank() || line.startsWith("#")) {
                    continue;
                }
                String[] words = line.split(" ", 2);
                String rest = words.length > 1 ? words[1] : "";
                switch (words[0]) {
                    case "format" -> format(rest);
                    case "library" -> library = rest;
                    case "source" -> sources.add(rest);
                    case "type" -> type(rest);
                    case "entry" -> entry(rest);
                    default -> throw error("unknown line '" + line + "'");
                }
            }
            if (!formatSeen || library.isEmpty()) {
                throw new InputException(file, 0, "not a description: 'format' or 'library' is missing");
            }
            fieldChecks.forEach(Runnable::run);
            return new Description(library, sources, types, fields, entries);
        }

        private void format(String version) {
            if (!version.equals(Integer.toString(FORMAT))) {
                throw error("format " + version + " is not known to this autotalk, which reads " + FORMAT);
            }
            formatSeen = true;
        }

        private void type(String rest) {
            String[] sides = rest.split(" = ", 2);
            if (sides.length != 2) {
                throw error("a type line reads 'type NAME = CLASS ...'");
            }
            String name = sides[0];
            String[] words = sides[1].split(" ", 2);
            String detail = words.length > 1 ? words[1] : "";
            if (types.put(name, parseType(name, words[0], detail)) != null) {
                throw error("type " + name + " stands here twice");
            }
            List<Field> members = new ArrayList<>();
            while (at < lines.size() && lines.get(at).startsWith("  ")) {
                field(members, lines.get(at++).strip());
            }
            if (!members.isEmpty()) {
                fields.put(name, members);
            }
        }

        private void field(List<Field> members, String line) {
            String[] words = line.split(" ", 5);
            if (words.length != 5 || !words[0].equals("field")) {
                throw error("a member's line reads 'field PATH OFFSET COUNT CLASS TYPE'");
            }
            int number = at;
            members.add(new Field(words[1], integer(words[2]), integer(words[3]),
                    TypeName.parse(words[4].substring(words[4].indexOf(' ') + 1))));
            fieldChecks.add(() -> {
                at = number;
                checkedType(words[4]);
            });
        }

        private NamedType parseType(String name, String word, String detail) {
            for (TypeClass typeClass : TypeClass.values()) {
                boolean number = typeClass == TypeClass.SIGNED || typeClass == TypeClass.UNSIGNED
                        || typeClass == TypeClass.FLOATING;
                if (number && word.matches(typeClass.word() + "(8|16|32|64)")) {
                    int bytes = Integer.parseInt(word.substring(1)) / Byte.SIZE;
                    return NamedType.number(name, typeClass, bytes, detail);
                }
                if (!number && word.equals(typeClass.word())) {
                    return sizedType(name, typeClass, detail);
                }
            }
            throw error("unknown type class '" + word + "'");
        }

        private NamedType sizedType(String name, TypeClass typeClass, String detail) {
            return switch (typeClass) {
                case VALUE -> {
                    String[] words = detail.split(" ");
                    if (words.length != 3 || !words[2].matches("m|[if]{0,2}")) {
                        throw error("a value type needs size, alignment and argument class");
                    }
                    yield new NamedType(name, typeClass, integer(words[0]), integer(words[1]), words[2]);
                }
                case ENUMERATION -> new NamedType(name, typeClass, Integer.BYTES, Integer.BYTES, "");
                case HANDLE, ADDRESS, FUNCTION -> new NamedType(name, typeClass, NamedType.POINTER_BYTES,
                        NamedType.POINTER_BYTES, "");
                default -> new NamedType(name, typeClass, 0, 0, "");
            };
        }

        private int integer(String text) {
            try {
                return Integer.parseInt(text);
            } catch (NumberFormatException e) {
                throw error("'" + text + "' is not a number");
            }
        }

        private void entry(String name) {
            int start = at;
            String api = "";
            String source = "";
            Entry.Since since = Entry.Since.UNKNOWN;
            Optional<String> perThread = Optional.empty();
            Optional<TypeName> returns = Optional.empty();
            boolean exported = true;
            boolean unknown = false;
            List<EntryParameter> parameters = new ArrayList<>();
            while (at < lines.size() && lines.get(at).startsWith("  ")) {
                String line = lines.get(at++).substring(2);
                String[] words = line.split(" ", 2);
                String rest = words.length > 1 ? words[1] : "";
                switch (words[0]) {
                    case "api" -> api = rest;
                    case "from" -> source = rest;
                    case "per-thread" -> perThread = Optional.of(rest);
                    case "since" -> since = since(rest);
                    case "not" -> exported = false;
                    case "params" -> unknown = true;
                    case "returns" -> returns = Optional.of(checkedType(rest));
                    case "param" -> parameters.add(parameter(rest));
                    default -> throw error("unknown line '" + line + "'");
                }
            }
            if (api.isEmpty() || source.isEmpty() || unknown == returns.isPresent()) {
                throw new InputException(file, start, "entry " + name
                        + " needs 'api', 'from', and either 'returns' or 'params unknown'");
            }
            Optional<Entry.Signature> signature = returns.map(type -> new Entry.Signature(type, parameters));
            if (entries.put(name, new Entry(name, api, perThread, source, exported, since, signature)) != null) {
                throw new InputException(file, start, "entry " + name + " stands here twice");
            }
        }

        private Entry.Since since(String rest) {
            String[] words = rest.split(" ");
            if (words.length != 2) {
                throw error("a version line reads 'since PLAIN PER-THREAD'");
            }
            return new Entry.Since(integer(words[0]), integer(words[1]));
        }

        private EntryParameter parameter(String rest) {
            String[] words = rest.split(" ", 3);
            if (words.length != 3) {
                throw error("a parameter line reads 'param NAME DIRECTION CLASS TYPE'");
            }
            ParameterDirection direction = ParameterDirection.ofWord(words[1])
                    .orElseThrow(() -> error("'" + words[1] + "' is not a direction: in, out or inout"));
            return new EntryParameter(words[0], direction, checkedType(words[2]));
        }

        /** Reads 'CLASS TYPE' and checks that the class agrees with the type, so that a hand-edited line cannot be wrong. */
        private TypeName checkedType(String text) {
            String[] words = text.split(" ", 2);
            TypeName type;
            try {
                type = TypeName.parse(words.length > 1 ? words[1] : "");
            } catch (IllegalArgumentException e) {
                throw error(e.getMessage());
            }
            String passing = Description.passing(types, type);
            if (!passing.equals(words[0])) {
                throw error("'" + type + "' is " + passing + ", not " + words[0]);
            }
            return type;
        }

        private InputException error(String problem) {
            return new InputException(file, at, problem);
        }
    }
}
