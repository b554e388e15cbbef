package io.tessera.agent.start;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The agent's options, from {@code -javaagent:tessera-agent.jar=}: {@code key=value,...}, and {@code options=PATH} for a file
 * with one {@code key=value} a line. An option that is not understood is reported and is never an error: the application continues.
 * Immutable after parsing.
 */
final class Options {
    private static final Map<String, Set<String>> CHOICES = Map.of(
            "share", Set.of("auto", "time", "space"), "plan", Set.of("plain", "managed", "swap", "auto"), "runtime", Set.of("no", "yes"),
            "release", Set.of("no", "yes"), "jmx", Set.of("on", "off"), "jfr", Set.of("on", "off"),
            "driver", Set.of("yes", "no"));
    private static final Set<String> TEXTS = Set.of("tenant", "memory", "record", "sample", "table", "log", "folder",
            "cache");
    private static final Map<Character, Integer> POWERS = Map.of('K', 1, 'M', 2, 'G', 3, 'T', 4);
    private static final int LABEL_BYTES = 63;

    /** Memory plan of programs that ask for none; the same as {@code default_plan} of tools/tessera. */
    static final String DEFAULT_PLAN = "auto";

    private final Map<String, String> values = new LinkedHashMap<>();
    private final List<String> complaints = new ArrayList<>();

    private Options() {
    }

    /** Reads the text after the jar's name; null: there is none. */
    static Options of(String text) {
        Options options = new Options();
        if (text != null) {
            for (String pair : text.split(",")) {
                options.add(pair.strip());
            }
        }
        return options;
    }

    private void add(String pair) {
        if (pair.isEmpty() || pair.startsWith("#")) {
            return;
        }
        int equals = pair.indexOf('=');
        String key = equals < 0 ? pair : pair.substring(0, equals).strip();
        String value = equals < 0 ? "" : pair.substring(equals + 1).strip();
        if (key.equals("options")) {
            addFile(value);
        } else if (CHOICES.containsKey(key)) {
            if (CHOICES.get(key).contains(value)) {
                values.put(key, value);
            } else {
                complaints.add(pair + ": " + key + " is one of " + String.join(", ", CHOICES.get(key)));
            }
        } else if (TEXTS.contains(key)) {
            addText(key, value);
        } else {
            complaints.add("unknown option " + pair);
        }
    }

    private void addText(String key, String value) {
        if (value.isEmpty()) {
            complaints.add(key + " needs a value");
        } else if (key.equals("memory")) {
            long bytes = bytes(value);
            if (bytes > 0) {
                values.put(key, Long.toString(bytes));
            } else {
                complaints.add("memory=" + value + ": a size is a number with KiB, MiB, GiB, TiB or nothing");
            }
        } else if (key.equals("tenant") && value.getBytes(StandardCharsets.UTF_8).length > LABEL_BYTES) {
            complaints.add("tenant=" + value + ": a label has at most " + LABEL_BYTES + " bytes");
        } else if (key.equals("sample")) {
            values.put("record", "sampled:" + value);
        } else {
            values.put(key, value);
        }
    }

    private void addFile(String path) {
        try {
            for (String line : Files.readAllLines(Path.of(path))) {
                String pair = line.strip();
                if (pair.startsWith("options")) {
                    complaints.add(path + ": an options file names no other");
                } else {
                    add(pair);
                }
            }
        } catch (IOException | RuntimeException failure) {
            complaints.add("options=" + path + ": " + failure);
        }
    }

    /** Parses a size and returns it in bytes; 0: the text is not a size. */
    private static long bytes(String text) {
        int digits = 0;
        while (digits < text.length() && Character.isDigit(text.charAt(digits))) {
            digits++;
        }
        String unit = text.substring(digits);
        if (digits == 0 || digits > 15) {
            return 0;
        }
        long number = Long.parseLong(text.substring(0, digits));
        if (unit.isEmpty() || unit.equals("B")) {
            return number;
        }
        Integer power = POWERS.get(unit.charAt(0));
        String rest = unit.substring(1);
        if (power == null || !Set.of("", "iB", "B").contains(rest)) {
            return 0;
        }
        long factor = 1;
        for (int i = 0; i < power; i++) {
            factor *= rest.equals("B") ? 1000 : 1024;
        }
        return number > Long.MAX_VALUE / factor ? 0 : number * factor;
    }

    /** Returns the value of an option, or a default. */
    String get(String key, String otherwise) {
        return values.getOrDefault(key, otherwise);
    }

    /** Returns whether an option has this value, explicitly or by default. */
    boolean is(String key, String value, String otherwise) {
        return get(key, otherwise).equals(value);
    }

    /** Returns a sentence for each part that was not understood. */
    List<String> complaints() {
        return complaints;
    }
}
