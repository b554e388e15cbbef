package io.tessera.autotalk.annotation;

import io.tessera.autotalk.annotation.Annotations.ParameterRule;
import io.tessera.autotalk.annotation.Annotations.ServingRule;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.EntryParameter;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One annotation file compared with a description: which of its rules decides for each entry, and the errors in them. Problems are added to
 * a given list. Not thread-safe.
 *
 * @param <S> type of its decisions
 */
final class RuleSet<S> {
    /** Minimum length of a pattern for a family of entries: a catch-all would hide the entries that a new driver adds. */
    private static final int SHORTEST_FAMILY = "cuGL*".length();
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final Set<String> EXTENT_WORDS = Set.of("string", "image", "by", "packed");

    private final Description description;
    private final Annotations<S> annotations;
    private final List<String> problems;
    private final Map<String, ServingRule<S>> deciding = new HashMap<>();
    private final Map<String, List<ParameterRule>> parameterRules = new HashMap<>();

    RuleSet(Description description, Annotations<S> annotations, String choices, List<String> problems) {
        this.description = description;
        this.annotations = annotations;
        this.problems = problems;
        Set<Object> used = new LinkedHashSet<>();
        for (Entry entry : description.entries().values()) {
            if (entry.exported()) {
                decide(entry, used, choices);
            }
        }
        for (ServingRule<S> rule : annotations.servings()) {
            reportRule(rule.line(), rule.entries(), used.contains(rule));
        }
        checkParameterRules();
    }

    /** Returns the rule that decides for an exported entry. */
    Optional<ServingRule<S>> deciding(Entry entry) {
        return Optional.ofNullable(deciding.get(entry.name()));
    }

    /** Returns the narrowest rule on a parameter of an entry. */
    Optional<ParameterRule> fact(Entry entry, EntryParameter parameter) {
        return rulesOf(entry).stream().filter(rule -> rule.parameter().matches(parameter.name()))
                .max(Comparator.comparingInt(RuleSet::narrowness));
    }

    /** Returns the rules of an entry. They are cached, since matching is most of the work and each parameter needs them several times. */
    private List<ParameterRule> rulesOf(Entry entry) {
        return parameterRules.computeIfAbsent(entry.name(), name -> annotations.parameters().stream()
                .filter(rule -> rule.entries().matches(entry)).toList());
    }

    List<StructureRule> structures() {
        return annotations.structures();
    }

    void report(int line, String problem) {
        problems.add(annotations.file() + ":" + line + ": " + problem);
    }

    private void decide(Entry entry, Set<Object> used, String choices) {
        List<ServingRule<S>> matching = annotations.servings().stream().filter(rule -> rule.entries().matches(entry))
                .sorted(Comparator.comparingInt((ServingRule<S> rule) -> rule.entries().narrowness()).reversed())
                .toList();
        if (matching.isEmpty()) {
            problems.add(annotations.file() + ": " + entry.name() + " has no decision: " + choices);
            return;
        }
        used.addAll(matching);
        ServingRule<S> rule = matching.getFirst();
        for (ServingRule<S> other : matching.subList(1, matching.size())) {
            boolean equal = other.entries().narrowness() == rule.entries().narrowness();
            if (equal && !other.serving().equals(rule.serving())) {
                report(rule.line(), entry.name() + " is decided otherwise in line " + other.line());
            }
        }
        deciding.put(entry.name(), rule);
    }

    private void reportRule(int line, NamePattern pattern, boolean used) {
        if (!used) {
            report(line, "'" + pattern.text() + "' matches no exported entry");
        }
        if (pattern.text().contains("*") && pattern.text().length() < SHORTEST_FAMILY) {
            report(line, "'" + pattern.text() + "' is too wide: it would hide what a new driver brings");
        }
    }

    private void checkParameterRules() {
        Set<ParameterRule> used = new LinkedHashSet<>();
        Set<String> told = new LinkedHashSet<>();
        for (Entry entry : description.entries().values()) {
            List<EntryParameter> parameters = entry.signature().map(Entry.Signature::parameters).orElse(List.of());
            List<ParameterRule> rules = rulesOf(entry);
            for (EntryParameter parameter : rules.isEmpty() ? List.<EntryParameter>of() : parameters) {
                List<ParameterRule> matching = rules.stream()
                        .filter(rule -> rule.parameter().matches(parameter.name())).toList();
                used.addAll(matching);
                matching.forEach(rule -> checkExtent(rule, entry, parameters, told));
                checkTies(matching, entry, parameter);
            }
        }
        for (ParameterRule rule : annotations.parameters()) {
            if (!used.contains(rule)) {
                report(rule.line(), "'" + rule.entries().text() + "." + rule.parameter().text()
                        + "' matches no parameter");
            }
        }
    }

    private void checkExtent(ParameterRule rule, Entry entry, List<EntryParameter> parameters, Set<String> told) {
        Matcher names = NAME.matcher(rule.extent().orElse(""));
        while (names.find()) {
            String name = names.group();
            boolean known = EXTENT_WORDS.contains(name)
                    || parameters.stream().anyMatch(parameter -> parameter.name().equals(name));
            if (!known && told.add(rule.line() + name)) {
                report(rule.line(), "'" + name + "' is no parameter of " + entry.name());
            }
        }
    }

    private void checkTies(List<ParameterRule> matching, Entry entry, EntryParameter parameter) {
        int narrowest = matching.stream().mapToInt(RuleSet::narrowness).max().orElse(0);
        List<ParameterRule> first = matching.stream().filter(rule -> narrowness(rule) == narrowest).toList();
        for (ParameterRule other : first.isEmpty() ? first : first.subList(1, first.size())) {
            report(other.line(), entry.name() + "." + parameter.name() + " has facts in line " + first.getFirst().line()
                    + " already");
        }
    }

    private static int narrowness(ParameterRule rule) {
        return rule.entries().narrowness() + rule.parameter().narrowness();
    }
}
