package io.tessera.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Reads the generated resource: a line for each structure, followed by a line for each of its fields. Stateless. */
final class StructureReader {
    private static final String STRUCTURE = "structure ";
    private static final String CONDITION = " when ";

    private StructureReader() {
    }

    /** Returns all structures by type. */
    static Map<String, StructureDescription> read(List<String> lines) {
        Map<String, StructureDescription> structures = new HashMap<>();
        int at = 0;
        while (at < lines.size()) {
            String[] head = lines.get(at++).split(" ");
            List<StructureDescription.Field> fields = new ArrayList<>();
            while (at < lines.size() && !lines.get(at).startsWith(STRUCTURE)) {
                fields.add(field(lines.get(at++)));
            }
            String type = head[1].replace('~', ' ');
            structures.put(type, new StructureDescription(type, Integer.parseInt(head[2]), fields));
        }
        return Map.copyOf(structures);
    }

    private static StructureDescription.Field field(String line) {
        String[] parts = line.split(CONDITION);
        String[] words = parts[0].split(" ");
        StructureDescription.Kind kind = switch (words[2]) {
            case "handle" -> new StructureDescription.Handle(HandleKind.valueOf(words[3]));
            case "device" -> new StructureDescription.Device();
            case "address" -> new StructureDescription.Address();
            case "function" -> new StructureDescription.Function();
            case "pointer" -> new StructureDescription.Pointer(words[3].replace('~', ' '), Integer.parseInt(words[4]));
            default -> throw new IllegalStateException("unknown kind in '" + line + "'");
        };
        List<StructureDescription.Condition> conditions = Arrays.stream(parts).skip(1)
                .map(StructureReader::condition).toList();
        return new StructureDescription.Field(words[0], Integer.parseInt(words[1]), kind, conditions);
    }

    private static StructureDescription.Condition condition(String text) {
        String[] words = text.split(" ");
        return new StructureDescription.Condition(Integer.parseInt(words[0]), Integer.parseInt(words[1]),
                Arrays.stream(words[2].split(",")).map(Long::valueOf).collect(Collectors.toSet()));
    }
}
