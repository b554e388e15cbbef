package io.tessera.autotalk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What a header does not say: how each entry is served, and what its pointers cover. The first line that matches an
 * entry decides.
 *
 * <pre>
 * cuLaunchKernel{,_ptsz}        submit LAUNCH
 * cuTexRef*                     pass
 * param cuMemcpyHtoD*.srcHost   space=host extent=ByteCount
 * </pre>
 *
 * Patterns know {@code *} and {@code {a,b}}.
 */
public final class Annotations {
    private static final Set<String> KINDS = Set.of("LAUNCH", "GRAPH_LAUNCH", "COPY", "MEMSET", "HOST_FUNCTION",
            "MEMORY_OP", "PREFETCH");
    private static final Set<String> FACTS = Set.of("space", "extent", "direction");

    private final List<Rule> rules = new ArrayList<>();
    private final List<ParameterRule> parameterRules = new ArrayList<>();

    private record Rule(String text, int line, Pattern pattern, Service service) {
    }

    private record ParameterRule(String text, int line, Pattern entry, Pattern parameter, Map<String, String> facts) {
    }

    /**
     * Reads an annotation file.
     *
     * @throws AutotalkException naming file and line of the first line that says nothing known
     */
    public static Annotations read(Path file) {
        Annotations annotations = new Annotations();
        try {
            List<String> lines = Files.readAllLines(file);
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i).replaceFirst("#.*", "").strip();
                if (!line.isEmpty()) {
                    annotations.add(line.split("\\s+"), i + 1, file.getFileName() + ":" + (i + 1));
                }
            }
        } catch (IOException e) {
            throw new AutotalkException("cannot read " + file + ": " + e.getMessage(), e);
        }
        return annotations;
    }

    private void add(String[] words, int line, String where) {
        if (words[0].equals("param")) {
            addParameterRule(words, line, where);
        } else if (words.length < 2) {
            throw new AutotalkException(where + ": a pattern, then pass, submit, sync or hook");
        } else {
            rules.add(new Rule(words[0], line, glob(words[0]), service(words, where)));
        }
    }

    private static Service service(String[] words, String where) {
        return switch (words[1]) {
            case "pass" -> new Service.Pass();
            case "sync" -> new Service.Sync();
            case "hook" -> new Service.Hook();
            case "submit" -> {
                if (words.length < 3 || !KINDS.contains(words[2])) {
                    throw new AutotalkException(where + ": submit needs one of " + new java.util.TreeSet<>(KINDS));
                }
                String stream = words.length > 3 && words[3].startsWith("stream=")
                        ? words[3].substring("stream=".length()) : "";
                yield new Service.Submit(words[2], stream);
            }
            default -> throw new AutotalkException(where + ": " + words[1] + " is none of pass, submit, sync, hook");
        };
    }

    private void addParameterRule(String[] words, int line, String where) {
        int dot = words.length > 2 ? words[1].indexOf('.') : -1;
        if (dot < 0) {
            throw new AutotalkException(where + ": param ENTRIES.PARAMETER fact=value ...");
        }
        Map<String, String> facts = new TreeMap<>();
        for (int i = 2; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            if (equals < 0 || !FACTS.contains(words[i].substring(0, equals))) {
                throw new AutotalkException(where + ": " + words[i] + " is none of " + new java.util.TreeSet<>(FACTS));
            }
            facts.put(words[i].substring(0, equals), words[i].substring(equals + 1));
        }
        parameterRules.add(new ParameterRule(words[1], line, glob(words[1].substring(0, dot)),
                glob(words[1].substring(dot + 1)), facts));
    }

    private static Pattern glob(String text) {
        StringBuilder regex = new StringBuilder();
        boolean choice = false;
        for (char c : text.toCharArray()) {
            switch (c) {
                case '*' -> regex.append("\\w*");
                case '{' -> regex.append("(?:");
                case '}' -> regex.append(")");
                case ',' -> regex.append(choice ? "|" : ",");
                default -> regex.append(c);
            }
            choice = c == '{' || (choice && c != '}');
        }
        return Pattern.compile(regex.toString());
    }

    /** How the entry is served; empty where no line decides. */
    public Optional<Service> serviceOf(Entry entry) {
        return rules.stream().filter(r -> r.pattern().matcher(entry.abiName()).matches()).findFirst()
                .map(Rule::service);
    }

    /** The entry with the facts of the annotations added to its parameters. */
    public Entry annotated(Entry entry) {
        return new Entry(entry.abiName(), entry.parameters().map(list -> list.stream()
                .map(p -> annotated(entry, p)).toList()));
    }

    private Parameter annotated(Entry entry, Parameter parameter) {
        Parameter result = parameter;
        for (ParameterRule rule : parameterRules) {
            if (rule.entry().matcher(entry.abiName()).matches()
                    && rule.parameter().matcher(parameter.name()).matches()) {
                for (Map.Entry<String, String> fact : rule.facts().entrySet()) {
                    result = result.with(fact.getKey(), fact.getValue());
                }
            }
        }
        return result;
    }

    /**
     * What is wrong with the annotations for these entries: entries that no line decides, entries that cannot be
     * wrapped since their parameters are unknown, and lines that decide nothing. Empty: all is decided.
     */
    public List<String> problems(Description description) {
        List<String> problems = new ArrayList<>();
        Set<Integer> used = new HashSet<>();
        for (Entry entry : description.entries().values()) {
            Optional<Rule> rule = rules.stream().filter(r -> r.pattern().matcher(entry.abiName()).matches())
                    .findFirst();
            rule.ifPresent(r -> used.add(r.line()));
            if (rule.isEmpty()) {
                problems.add(entry.abiName() + ": no line says how it is served");
            } else if (entry.parameters().isEmpty() && (rule.get().service() instanceof Service.Submit
                    || rule.get().service() instanceof Service.Sync)) {
                problems.add(entry.abiName() + ": parameters unknown, so no wrapper can be generated");
            }
        }
        for (Rule rule : rules) {
            if (!used.contains(rule.line())) {
                problems.add("line " + rule.line() + ": " + rule.text() + " decides no entry");
            }
        }
        for (ParameterRule rule : parameterRules) {
            boolean hit = description.entries().values().stream().anyMatch(e -> rule.entry().matcher(e.abiName())
                    .matches() && e.parameters().orElse(List.of()).stream()
                            .anyMatch(p -> rule.parameter().matcher(p.name()).matches()));
            if (!hit) {
                problems.add("line " + rule.line() + ": " + rule.text() + " names no parameter");
            }
        }
        return problems;
    }

    /** Untyped pointers of which nothing says yet what they cover, as {@code entry.parameter}. */
    public List<String> open(Description description) {
        return description.entries().values().stream().map(this::annotated)
                .flatMap(e -> e.parameters().orElse(List.of()).stream().filter(Parameter::extentUnknown)
                        .map(p -> e.abiName() + "." + p.name()))
                .toList();
    }
}
