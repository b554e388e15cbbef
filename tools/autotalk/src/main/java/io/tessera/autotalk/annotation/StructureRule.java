package io.tessera.autotalk.annotation;

import io.tessera.autotalk.input.InputException;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A line about members of structures: which member of a union is valid, and facts that the header's type does not express.
 *
 * @param line    line in the file, from 1
 * @param types   structures to which it applies
 * @param path    path of the member, or its beginning; empty: all members
 * @param ignored whether the member needs no translation or check
 * @param type    the actual type, such as {@code CUdevice} for an {@code int}
 * @param when    discriminator: the member is valid only if this one has one of {@code values}
 * @param values  see {@code when}
 */
public record StructureRule(int line, NamePattern types, String path, boolean ignored, Optional<String> type,
        Optional<String> when, List<Long> values) {
    private static final String KEYWORD = "structure ";
    private static final Pattern LINE = Pattern.compile("structure\\s+([A-Za-z0-9_*]+)(?:\\.([A-Za-z0-9_.]+))?"
            + "(?:\\s+(ignored))?(?:\\s+is\\s+(\\w+))?(?:\\s+when\\s+([A-Za-z0-9_.]+)\\s*=\\s*([0-9]+(?:\\s*,\\s*[0-9]+)*))?");

    /** Copies the list. */
    public StructureRule {
        values = List.copyOf(values);
    }

    /** Returns whether a line of an annotation file, without its comment, is of this kind. */
    static boolean isOne(String content) {
        return content.startsWith(KEYWORD);
    }

    /**
     * Reads the lines of this kind in a file.
     *
     * @throws InputException where one is not understood
     */
    public static List<StructureRule> read(String file, String text) {
        List<StructureRule> rules = new ArrayList<>();
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            String content = line.replaceFirst("#.*", "").strip();
            if (isOne(content)) {
                rules.add(rule(file, number, content));
            }
        }
        return List.copyOf(rules);
    }

    private static StructureRule rule(String file, int number, String content) {
        Matcher matcher = LINE.matcher(content);
        if (!matcher.matches()) {
            throw new InputException(file, number,
                    "a line about a structure reads 'structure TYPE[.MEMBER] [ignored] [is TYPE] [when MEMBER = N, ...]'");
        }
        List<Long> values = matcher.group(6) == null ? List.of()
                : Arrays.stream(matcher.group(6).split("\\s*,\\s*")).map(Long::valueOf).toList();
        return new StructureRule(number, new NamePattern(matcher.group(1)),
                Optional.ofNullable(matcher.group(2)).orElse(""), matcher.group(3) != null,
                Optional.ofNullable(matcher.group(4)), Optional.ofNullable(matcher.group(5)), values);
    }

    /** Returns whether it applies to a member of a structure. */
    public boolean matches(String structure, String member) {
        return types.matches(structure) && (path.isEmpty() || member.equals(path) || member.startsWith(path + "."));
    }
}
