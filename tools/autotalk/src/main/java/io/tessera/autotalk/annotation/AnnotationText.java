package io.tessera.autotalk.annotation;

import io.tessera.autotalk.annotation.Annotations.ParameterRule;
import io.tessera.autotalk.annotation.Annotations.ServingRule;
import io.tessera.autotalk.annotation.Annotations.Space;
import io.tessera.autotalk.description.ParameterDirection;
import io.tessera.autotalk.input.InputException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads an annotation file. A line is {@code PATTERN DECISION} or {@code PATTERN.PARAMETER FACTS}; {@code #} starts a
 * comment; lines about structures are {@link StructureRule}'s. The grammar is in the module's README. Stateless.
 */
public final class AnnotationText {
    private static final Pattern SUBJECT = Pattern.compile("([A-Za-z0-9_*]+)(?:\\.([A-Za-z0-9_*]+))?");
    private static final Pattern SPACE = Pattern.compile("(host|device|any|value)(?:\\[(.+)])?");
    private static final String STREAM = "stream=";

    private AnnotationText() {
    }

    /** Converts the words after a pattern to a decision. */
    private interface DecisionReader<S> {
        S read(String text, String file, int line);
    }

    /**
     * Reads annotations.
     *
     * @throws InputException where a line is not understood
     */
    public static Annotations<Serving> read(String file, String text) {
        return read(file, text, AnnotationText::serving);
    }

    /**
     * Reads the decisions of the relay port.
     *
     * @throws InputException where a line is not understood
     */
    public static Annotations<RelayServing> readRelay(String file, String text) {
        return read(file, text, AnnotationText::relayServing);
    }

    private static <S> Annotations<S> read(String file, String text, DecisionReader<S> decision) {
        List<ServingRule<S>> servings = new ArrayList<>();
        List<ParameterRule> parameters = new ArrayList<>();
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            String content = line.replaceFirst("#.*", "").strip();
            if (content.isEmpty() || StructureRule.isOne(content)) {
                continue;
            }
            String[] words = content.split("\\s+", 2);
            Matcher subject = SUBJECT.matcher(words[0]);
            if (!subject.matches() || words.length < 2) {
                throw new InputException(file, number, "a line reads 'PATTERN DECISION' or 'PATTERN.PARAMETER FACTS'");
            }
            NamePattern entries = new NamePattern(subject.group(1));
            if (subject.group(2) == null) {
                servings.add(new ServingRule<>(number, entries, decision.read(words[1], file, number)));
            } else {
                parameters.add(parameter(entries, new NamePattern(subject.group(2)), words[1], file, number));
            }
        }
        return new Annotations<>(file, servings, parameters, StructureRule.read(file, text));
    }

    private static Serving serving(String text, String file, int line) {
        String[] words = text.split("\\s+", 3);
        if (words.length > 1 && !words[0].equals("submit")) {
            throw new InputException(file, line, "'" + words[0] + "' takes nothing behind it");
        }
        return switch (words[0]) {
            case "pass" -> new Serving.Pass();
            case "sync" -> new Serving.Sync();
            case "room" -> new Serving.Room();
            case "hook" -> new Serving.Hook();
            case "submit" -> submit(words, file, line);
            default -> throw new InputException(file, line, "unknown decision '" + words[0]
                    + "': pass, submit KIND, sync, room or hook");
        };
    }

    private static RelayServing relayServing(String text, String file, int line) {
        String[] words = text.split("\\s+", 2);
        if (words[0].equals("refuse") && words.length == 2) {
            return new RelayServing.Refuse(words[1]);
        }
        return switch (text.replaceAll("\\s+", " ")) {
            case "local" -> new RelayServing.Local();
            case "call" -> new RelayServing.Send(true, false);
            case "async" -> new RelayServing.Send(false, false);
            case "wrap call" -> new RelayServing.Send(true, true);
            case "wrap async" -> new RelayServing.Send(false, true);
            default -> throw new InputException(file, line, "unknown decision '" + text
                    + "': local, call, async, wrap call, wrap async or refuse REASON");
        };
    }

    private static Serving submit(String[] words, String file, int line) {
        Optional<EntrySubmission> kind = Arrays.stream(EntrySubmission.values())
                .filter(value -> words.length > 1 && value.name().equals(words[1])).findFirst();
        if (kind.isEmpty()) {
            throw new InputException(file, line, "'submit' needs a kind: " + Arrays.toString(EntrySubmission.values()));
        }
        if (words.length == 3 && !words[2].startsWith(STREAM)) {
            throw new InputException(file, line, "'" + words[2] + "' is not stream=EXPRESSION");
        }
        return new Serving.Submit(kind.get(), words.length == 3
                ? Optional.of(words[2].substring(STREAM.length()).strip()) : Optional.empty());
    }

    private static ParameterRule parameter(NamePattern entries, NamePattern name, String facts, String file, int line) {
        Optional<ParameterDirection> direction = Optional.empty();
        Optional<Space> space = Optional.empty();
        Optional<String> extent = Optional.empty();
        for (String fact : facts.split("\\s+(?![^\\[]*])")) {
            Matcher place = SPACE.matcher(fact);
            if (ParameterDirection.ofWord(fact).isPresent()) {
                direction = ParameterDirection.ofWord(fact);
            } else if (place.matches()) {
                space = Optional.of(Space.valueOf(place.group(1).toUpperCase(Locale.ROOT)));
                extent = Optional.ofNullable(place.group(2));
            } else {
                throw new InputException(file, line, "'" + fact
                        + "' is neither in, out, inout nor host, device, any, value with an optional [EXTENT]");
            }
        }
        return new ParameterRule(line, entries, name, direction, space, extent);
    }
}
