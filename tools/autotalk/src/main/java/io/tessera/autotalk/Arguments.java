package io.tessera.autotalk;

import java.io.Serial;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The arguments of a command: options with a value, switches, and plain words. Immutable after parsing.
 *
 * @param words    arguments that are not options
 * @param values   values by option; an option may be given several times
 * @param switches switches that were given
 */
record Arguments(List<String> words, Map<String, List<String>> values, Set<String> switches) {

    /** The user gave arguments that the command does not accept; the message names them and what is accepted. */
    static final class UsageException extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1L;

        UsageException(String problem) {
            super(problem);
        }
    }

    /** Parses arguments; everything that starts with {@code --} must be known. */
    static Arguments parse(List<String> arguments, Set<String> options, Set<String> knownSwitches) {
        List<String> words = new ArrayList<>();
        Map<String, List<String>> values = new TreeMap<>();
        Set<String> switches = new TreeSet<>();
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            if (!argument.startsWith("--")) {
                words.add(argument);
            } else if (knownSwitches.contains(argument)) {
                switches.add(argument);
            } else if (!options.contains(argument)) {
                throw new UsageException("unknown option " + argument);
            } else if (i + 1 == arguments.size() || arguments.get(i + 1).startsWith("--")) {
                throw new UsageException(argument + " needs a value");
            } else {
                values.computeIfAbsent(argument, key -> new ArrayList<>()).add(arguments.get(++i));
            }
        }
        return new Arguments(List.copyOf(words), values, switches);
    }

    List<String> all(String option) {
        return values.getOrDefault(option, List.of());
    }

    Optional<String> last(String option) {
        return all(option).isEmpty() ? Optional.empty() : Optional.of(all(option).getLast());
    }

    Path required(String option) {
        return Path.of(last(option).orElseThrow(() -> new UsageException(option + " is missing")));
    }

    void noWords() {
        if (!words.isEmpty()) {
            throw new UsageException("'" + words.getFirst() + "' is not expected here");
        }
    }
}
