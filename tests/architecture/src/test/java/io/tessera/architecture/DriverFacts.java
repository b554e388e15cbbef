package io.tessera.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Numbers of the driver interface that a source restates, though they are generated from {@code native-preload/api}. Two signs
 * are looked for: a number beside a comment that names an enumerator, an enumeration or a structure, and a constant that has an enumerator's name and
 * number. Immutable.
 */
final class DriverFacts {
    /** A constant whose value is a number: of Java, of an enumeration in C, of the preprocessor. */
    private static final Pattern CONSTANT = Pattern.compile(
            "(?:static final (?:int|long|short|byte) |^\\s*(?:static )?(?:enum \\{ )?|, |#define )([A-Z][A-Z0-9_]{2,})(?: = |\\s+)"
                    + "(?:\\(?[a-z]+\\)?\\s*)?(-?(?:0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10}))[uUlL]*(?= *(?:[;,}|<+*]|$|//|/\\*))");
    private static final Pattern TRAILING = Pattern.compile("[(=, ][0-9]+[uUlL]*\\)*;.*(?://|/\\*)(.*)$");
    private static final Pattern NAME = Pattern.compile("\\bCU[A-Za-z0-9_]{3,}");

    /** Whole names of enumerators, enumerations and structures. */
    private final Set<String> names;
    /** Numbers of enumerators by their names without what all of their enumeration have. */
    private final Map<String, Set<Long>> numbers;

    private DriverFacts(Set<String> names, Map<String, Set<Long>> numbers) {
        this.names = names;
        this.numbers = numbers;
    }

    /** From the files of {@code native-preload/api}. */
    static DriverFacts read(Path api) throws IOException {
        Set<String> names = new HashSet<>();
        Map<String, Set<Long>> numbers = new HashMap<>();
        String prefix = "";
        for (String line : Files.readAllLines(api.resolve("cuda.constants"))) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "enumeration" -> prefix = words[2];
                case "result" -> add(names, numbers, "CUDA_ERROR_", words[2], words[1]);
                case "attribute" -> add(names, numbers, "CU_DEVICE_ATTRIBUTE_", words[2], words[1]);
                case "memorytype" -> add(names, numbers, "CU_MEMORYTYPE_", words[2], words[1]);
                case "enumerator" -> add(names, numbers, prefix, words[2].substring(prefix.length()), words[1]);
                default -> {}
            }
        }
        Files.readAllLines(api.resolve("cuda.api")).stream().map(line -> line.split(" "))
                .filter(words -> words[0].equals("type") && Set.of("value", "enum").contains(words[3])).forEach(words -> names.add(words[1]));
        return new DriverFacts(names, numbers);
    }

    private static void add(Set<String> names, Map<String, Set<Long>> numbers, String prefix, String name, String number) {
        names.add(prefix + name);
        // One word says little: there is a HOST and a READ of others, too.
        if (name.contains("_")) {
            numbers.computeIfAbsent(name, _ -> new HashSet<>()).add(Long.parseLong(number));
        }
    }

    /** How many names are known. */
    int size() {
        return names.size();
    }

    /** Lines that restate a fact, each as {@code NUMBER: LINE}. */
    List<String> restated(List<String> lines) {
        List<String> found = new ArrayList<>();
        boolean named = false;
        boolean inComment = false;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            boolean comment = inComment || line.startsWith("/*") || line.startsWith("//");
            if (comment) {
                named = named && inComment || names(line);
                inComment = line.startsWith("/*") && !line.contains("*/") || inComment && !line.contains("*/");
                continue;
            }
            Matcher constant = CONSTANT.matcher(line);
            boolean declares = constant.find();
            Matcher trailing = TRAILING.matcher(line);
            if (declares && (named || commented(line) || isEnumerator(constant)) || trailing.find() && names(trailing.group(1))) {
                found.add(i + 1 + ": " + line);
            }
            // A comment is of all constants that follow it without a line between.
            named &= declares;
        }
        return found;
    }

    private static int comment(String line) {
        int java = line.indexOf("//");
        int c = line.indexOf("/*");
        return java < 0 ? c : c < 0 ? java : Math.min(java, c);
    }

    private boolean commented(String line) {
        return comment(line) >= 0 && names(line.substring(comment(line)));
    }

    private boolean names(String text) {
        return NAME.matcher(text).results().anyMatch(name -> names.contains(name.group()));
    }

    private boolean isEnumerator(Matcher constant) {
        return numbers.getOrDefault(constant.group(1), Set.of()).contains(Long.decode(constant.group(2)));
    }
}
