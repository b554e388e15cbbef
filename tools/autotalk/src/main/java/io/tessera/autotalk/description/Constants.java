package io.tessera.autotalk.description;

import io.tessera.autotalk.input.InputException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Enumerators of the interface, from {@code cuda.constants}: one a line, by kind. Immutable. */
public final class Constants {
    /** Kind of enumerators with full names: they belong to different enumerations, so a number may occur several times. */
    private static final String ENUMERATOR = "enumerator";

    private final List<Constant> all;
    private final List<Enumeration> enumerations;

    private Constants(List<Constant> all, List<Enumeration> enumerations) {
        this.all = List.copyOf(all);
        this.enumerations = List.copyOf(enumerations);
    }

    /**
     * Enumerators that belong together.
     *
     * @param name    their class in Java
     * @param prefix  the part of each name in cuda.h that identifies the enumeration
     * @param members in the order of the file
     */
    public record Enumeration(String name, String prefix, List<Constant> members) {
    }

    /**
     * One enumerator.
     *
     * @param kind   {@code result}, {@code attribute}, {@code memorytype} or {@code enumerator}
     * @param number its value
     * @param name   its name without the common prefix of its kind
     * @param text   the driver's text for it; empty: there is none
     */
    public record Constant(String kind, int number, String name, String text) {
        /** Returns its name in cuda.h. */
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
     * @throws InputException if a line is malformed, a number or name occurs twice, or an enumerator does not belong to the enumeration
     *         before it
     */
    public static Constants parse(String file, List<String> lines) {
        List<Constant> all = new ArrayList<>();
        List<Enumeration> enumerations = new ArrayList<>();
        Set<String> known = new HashSet<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.isBlank() || line.startsWith("#") || line.equals("format 1")) {
                continue;
            }
            String[] words = line.split(" ", 4);
            if (words[0].equals("enumeration")) {
                if (words.length != 3 || !words[1].matches("[A-Z][A-Za-z0-9]*") || !known.add(words[1])) {
                    throw new InputException(file, i + 1, "not 'enumeration CLASS PREFIX', or the class is there twice");
                }
                enumerations.add(new Enumeration(words[1], words[2], new ArrayList<>()));
                continue;
            }
            if (words.length < 3 || !words[1].matches("-?\\d{1,10}") || !words[2].matches("[A-Z][A-Z0-9_]*")) {
                throw new InputException(file, i + 1, "not 'KIND NUMBER NAME [TEXT]'");
            }
            boolean again = !words[0].equals(ENUMERATOR) && !known.add(words[0] + " " + words[1]);
            if (again || !known.add(words[0] + " " + words[2])) {
                throw new InputException(file, i + 1, "number or name is there twice");
            }
            Constant constant = new Constant(words[0], Integer.parseInt(words[1]), words[2], words.length > 3 ? words[3] : "");
            all.add(constant);
            if (words[0].equals(ENUMERATOR)) {
                if (enumerations.isEmpty() || !words[2].matches(enumerations.getLast().prefix() + "[A-Z][A-Z0-9_]*")) {
                    throw new InputException(file, i + 1, "the enumeration before it has another prefix");
                }
                enumerations.getLast().members().add(constant);
            }
        }
        return new Constants(all, enumerations);
    }

    /** Returns all enumerators, in the order of the file. */
    public List<Constant> all() {
        return all;
    }

    /** Returns the enumerations with their members, in the order of the file. */
    public List<Enumeration> enumerations() {
        return enumerations;
    }

    /** Returns the enumerators of a kind, in the order of the file. */
    public List<Constant> of(String kind) {
        return all.stream().filter(constant -> constant.kind().equals(kind)).toList();
    }
}
