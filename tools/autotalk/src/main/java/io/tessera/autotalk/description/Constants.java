package io.tessera.autotalk.description;

import io.tessera.autotalk.input.InputException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Enumerators of the interface, from {@code cuda.constants}: one a line, by kind. Immutable. */
public final class Constants {
    /** The kind of those with whole names: numbers of different enumerations, so the same one may be there several times. */
    private static final String ENUMERATOR = "enumerator";

    private final List<Constant> all;

    private Constants(List<Constant> all) {
        this.all = List.copyOf(all);
    }

    /**
     * One enumerator.
     *
     * @param kind   {@code result}, {@code attribute}, {@code memorytype} or {@code enumerator}
     * @param number its value
     * @param name   its name without the prefix that all of its kind have
     * @param text   what the driver says of it; empty where it says nothing
     */
    public record Constant(String kind, int number, String name, String text) {
        /** Its name in cuda.h. */
        public String symbol() {
            return switch (kind) {
                case "result" -> number == 0 ? "CUDA_" + name : "CUDA_ERROR_" + name;
                case "attribute" -> "CU_DEVICE_ATTRIBUTE_" + name;
                case "memorytype" -> "CU_MEMORYTYPE_" + name;
                default -> name;
            };
        }
    }

    /**
     * Reads a file.
     *
     * @throws InputException if a line is none, or a number or name is there twice
     */
    public static Constants parse(String file, List<String> lines) {
        List<Constant> all = new ArrayList<>();
        Set<String> known = new HashSet<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.isBlank() || line.startsWith("#") || line.equals("format 1")) {
                continue;
            }
            String[] words = line.split(" ", 4);
            if (words.length < 3 || !words[1].matches("\\d{1,4}") || !words[2].matches("[A-Z][A-Z0-9_]*")) {
                throw new InputException(file, i + 1, "not 'KIND NUMBER NAME [TEXT]'");
            }
            boolean again = !words[0].equals(ENUMERATOR) && !known.add(words[0] + " " + words[1]);
            if (again || !known.add(words[0] + " " + words[2])) {
                throw new InputException(file, i + 1, "number or name is there twice");
            }
            all.add(new Constant(words[0], Integer.parseInt(words[1]), words[2], words.length > 3 ? words[3] : ""));
        }
        return new Constants(all);
    }

    /** All, in the order of the file. */
    public List<Constant> all() {
        return all;
    }

    /** Those of a kind, in the order of the file. */
    public List<Constant> of(String kind) {
        return all.stream().filter(constant -> constant.kind().equals(kind)).toList();
    }
}
