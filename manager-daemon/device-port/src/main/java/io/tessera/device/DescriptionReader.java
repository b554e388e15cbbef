package io.tessera.device;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads the generated resource: a line for each entry, followed by a line for each of its parameters. Stateless. */
final class DescriptionReader {
    private static final String ENTRY = "entry ";

    private DescriptionReader() {
    }

    /** Returns all entries, by ordinal. */
    static EntryDescription[] read(List<String> lines) {
        EntryDescription[] entries = new EntryDescription[DriverEntry.values().length];
        int at = 0;
        while (at < lines.size()) {
            String[] head = lines.get(at++).split(" ");
            List<ParameterDescription> parameters = new ArrayList<>();
            while (at < lines.size() && !lines.get(at).startsWith(ENTRY)) {
                parameters.add(parameter(lines.get(at++)));
            }
            DriverEntry entry = DriverEntry.valueOf(head[1]);
            entries[entry.ordinal()] = new EntryDescription(entry, DriverApi.valueOf(head[2]), head[3].equals("per-thread"),
                    head[4].equals("known"), RelayService.valueOf(head[5]), parameters);
        }
        for (DriverEntry entry : DriverEntry.values()) {
            if (entries[entry.ordinal()] == null) {
                throw new IllegalStateException(entry + " is not described: enumeration and resource do not belong together");
            }
        }
        return entries;
    }

    private static ParameterDescription parameter(String line) {
        String[] words = line.split(" ", 4);
        String rest = words.length > 3 ? words[3] : "";
        ParameterDescription.Shape shape = switch (words[2]) {
            case "number" -> number(rest);
            case "handle" -> new ParameterDescription.Handle(HandleKind.valueOf(rest));
            case "opaque" -> new ParameterDescription.Opaque(false);
            case "function" -> new ParameterDescription.Opaque(true);
            case "structure" -> structure(rest.split(" "));
            case "pointer" -> pointer(rest.split(" ", 4));
            default -> throw new IllegalStateException("unknown shape in '" + line + "'");
        };
        return new ParameterDescription(words[0], words[1].replace('~', ' '), shape);
    }

    private static ParameterDescription.Shape number(String text) {
        int bits = Integer.parseInt(text.substring(1));
        return text.charAt(0) == 'f' ? new ParameterDescription.Floating()
                : new ParameterDescription.Number(bits / Byte.SIZE, text.charAt(0) == 'i');
    }

    private static ParameterDescription.Shape structure(String[] words) {
        return new ParameterDescription.Structure(Integer.parseInt(words[0]), Integer.parseInt(words[1]), words[2]);
    }

    private static ParameterDescription.Shape pointer(String[] words) {
        boolean pointers = words[2].equals("pointer");
        Optional<HandleKind> element = pointers || words[2].equals("plain") ? Optional.empty()
                : Optional.of(HandleKind.valueOf(words[2]));
        return new ParameterDescription.Pointer(Direction.valueOf(words[0].toUpperCase(Locale.ROOT)),
                Integer.parseInt(words[1]), pointers, element, extent(words[3].split(" ", 2)));
    }

    private static Extent extent(String[] words) {
        String rest = words.length > 1 ? words[1] : "";
        return switch (words[0]) {
            case "count" -> new Extent.Constant(Long.parseLong(rest));
            case "value" -> value(rest.split(" "));
            case "behind" -> new Extent.Behind(Integer.parseInt(rest));
            case "string" -> new Extent.Text();
            case "handwritten" -> new Extent.Handwritten(rest);
            default -> throw new IllegalStateException("unknown extent '" + words[0] + "'");
        };
    }

    private static Extent value(String[] words) {
        return new Extent.Value(Integer.parseInt(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
    }
}
