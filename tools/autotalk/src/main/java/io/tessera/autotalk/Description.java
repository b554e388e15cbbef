package io.tessera.autotalk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A library's entries: our text form of what a header declares.
 *
 * <pre>
 * source cuda.h 13000
 * value CUipcMemHandle 64
 * entry cuMemAlloc_v2
 *   out deviceptr* dptr
 *   in size bytesize
 * entry cuGLInit unknown
 * </pre>
 *
 * @param sources where it was read from: file name to version
 * @param values  by-value structures: name to size in bytes
 * @param entries by exported name, sorted
 */
public record Description(Map<String, String> sources, SortedMap<String, Integer> values,
        SortedMap<String, Entry> entries) {

    /** Makes the maps unmodifiable copies. */
    public Description {
        sources = Map.copyOf(sources);
        values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
        entries = Collections.unmodifiableSortedMap(new TreeMap<>(entries));
    }

    /** The description in its text form. */
    public String text() {
        StringBuilder text = new StringBuilder("# Written by tools/autotalk describe; facts of names and types.\n");
        new TreeMap<>(sources).forEach((file, version) -> text.append("source ").append(file).append(' ')
                .append(version).append('\n'));
        values.forEach((name, bytes) -> text.append("value ").append(name).append(' ').append(bytes).append('\n'));
        for (Entry entry : entries.values()) {
            text.append("entry ").append(entry.abiName());
            text.append(entry.parameters().isEmpty() ? " unknown\n" : "\n");
            for (Parameter p : entry.parameters().orElse(List.of())) {
                text.append("  ").append(p.direction().name().toLowerCase(Locale.ROOT)).append(' ').append(p.type())
                        .append(' ').append(p.name()).append('\n');
            }
        }
        return text.toString();
    }

    /**
     * Reads the text form.
     *
     * @throws AutotalkException where a line is not of that form
     */
    public static Description read(Path file) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException e) {
            throw new AutotalkException("cannot read " + file + ": " + e.getMessage(), e);
        }
        Reader reader = new Reader(file.getFileName().toString());
        for (int i = 0; i < lines.size(); i++) {
            reader.line(lines.get(i), i + 1);
        }
        return reader.finish();
    }

    private static final class Reader {
        private final String file;
        private final Map<String, String> sources = new HashMap<>();
        private final SortedMap<String, Integer> values = new TreeMap<>();
        private final SortedMap<String, Entry> entries = new TreeMap<>();
        private String name;
        private List<Parameter> parameters;

        Reader(String file) {
            this.file = file;
        }

        void line(String line, int number) {
            String[] words = line.strip().split("\\s+");
            if (line.isBlank() || line.startsWith("#")) {
                return;
            }
            try {
                switch (words[0]) {
                    case "source" -> sources.put(words[1], words[2]);
                    case "value" -> values.put(words[1], Integer.parseInt(words[2]));
                    case "entry" -> begin(words);
                    case "in", "out", "inout" -> parameters.add(new Parameter(words[2], words[1],
                            Parameter.Direction.valueOf(words[0].toUpperCase(Locale.ROOT)), Map.of()));
                    default -> throw new IllegalArgumentException("unknown word " + words[0]);
                }
            } catch (RuntimeException e) {
                throw new AutotalkException(file + ":" + number + ": not a line of a description: " + line.strip(), e);
            }
        }

        private void begin(String[] words) {
            end();
            name = words[1];
            parameters = words.length > 2 && words[2].equals("unknown") ? null : new ArrayList<>();
        }

        private void end() {
            if (name != null && entries.put(name,
                    new Entry(name, Optional.ofNullable(parameters).map(List::copyOf))) != null) {
                throw new IllegalArgumentException(name + " stands twice");
            }
        }

        Description finish() {
            end();
            return new Description(sources, values, entries);
        }
    }
}
