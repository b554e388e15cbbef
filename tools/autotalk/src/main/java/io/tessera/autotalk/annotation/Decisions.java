package io.tessera.autotalk.annotation;

import io.tessera.autotalk.annotation.Annotations.ParameterRule;
import io.tessera.autotalk.annotation.Annotations.ServingRule;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.Parameter;
import io.tessera.autotalk.description.TypeClass;

import java.util.ArrayList;
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
 * A description joined with its annotations: for each entry the decision, and what is wrong or missing.
 *
 * <p>Of several rules that match, the narrowest decides ({@link NamePattern#narrowness}); two equally narrow ones that
 * differ are a problem, as are rules that match nothing. There is no default: an entry without a rule is a gap.
 */
public final class Decisions {
    /** A catch-all would hide the entries that a new driver brings; a family has at least this many letters. */
    private static final int SHORTEST_FAMILY = "cuGL*".length();
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final Set<String> EXTENT_WORDS = Set.of("string", "image", "by");

    private final Description description;
    private final Annotations annotations;
    private final Map<String, Serving> servings = new HashMap<>();
    private final List<String> problems = new ArrayList<>();

    /** Joins the two; problems are collected, not thrown. */
    public Decisions(Description description, Annotations annotations) {
        this.description = description;
        this.annotations = annotations;
        Set<Object> used = new LinkedHashSet<>();
        for (Entry entry : description.entries().values()) {
            if (entry.exported()) {
                decide(entry, used);
            }
        }
        for (ServingRule rule : annotations.servings()) {
            reportRule(rule.line(), rule.entries(), used.contains(rule));
        }
        checkParameterRules();
    }

    /** The description. */
    public Description description() {
        return description;
    }

    /** What stands in the way of generating: entries without a decision, rules that contradict or match nothing. */
    public List<String> problems() {
        return List.copyOf(problems);
    }

    /** The decision for an exported entry; empty where there is none. */
    public Optional<Serving> serving(Entry entry) {
        return Optional.ofNullable(servings.get(entry.name()));
    }

    /** The narrowest rule on a parameter of an entry. */
    public Optional<ParameterRule> fact(Entry entry, Parameter parameter) {
        return annotations.parameters().stream()
                .filter(rule -> rule.entries().matches(entry) && rule.parameter().matches(parameter.name()))
                .max(Comparator.comparingInt(Decisions::narrowness));
    }

    /**
     * Pointers to memory of unknown size: what a relayed call still needs to know. Pointers to a single object of a known
     * type count as known; text and buffers need an extent.
     */
    public List<String> unknownExtents() {
        List<String> unknown = new ArrayList<>();
        for (Entry entry : description.entries().values()) {
            for (Parameter parameter : entry.signature().map(Entry.Signature::parameters).orElse(List.of())) {
                boolean known = fact(entry, parameter).flatMap(ParameterRule::space).isPresent();
                if (!known && leadsToBuffer(parameter)) {
                    unknown.add(entry.name() + "." + parameter.name() + " (" + parameter.type() + ")");
                }
            }
        }
        return unknown;
    }

    private boolean leadsToBuffer(Parameter parameter) {
        if (!parameter.type().isPointer() || parameter.type().target().isPointer()) {
            return false;
        }
        NamedType target = description.type(parameter.type().base()).orElseThrow();
        return target.typeClass() == TypeClass.VOID || target.name().equals("char");
    }

    private void decide(Entry entry, Set<Object> used) {
        List<ServingRule> matching = annotations.servings().stream().filter(rule -> rule.entries().matches(entry))
                .sorted(Comparator.comparingInt((ServingRule rule) -> rule.entries().narrowness()).reversed()).toList();
        if (matching.isEmpty()) {
            problems.add(annotations.file() + ": " + entry.name() + " has no decision: pass, submit, sync or hook");
            return;
        }
        used.addAll(matching);
        ServingRule rule = matching.getFirst();
        for (ServingRule other : matching.subList(1, matching.size())) {
            boolean equal = other.entries().narrowness() == rule.entries().narrowness();
            if (equal && !other.serving().equals(rule.serving())) {
                report(rule.line(), entry.name() + " is decided otherwise in line " + other.line());
            }
        }
        boolean wrapped = rule.serving() instanceof Serving.Submit || rule.serving() instanceof Serving.Sync;
        if (entry.signature().isEmpty() && wrapped) {
            report(rule.line(), entry.name() + " cannot have a generated wrapper: its parameters are unknown");
            return;
        }
        servings.put(entry.name(), rule.serving());
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
            List<Parameter> parameters = entry.signature().map(Entry.Signature::parameters).orElse(List.of());
            List<ParameterRule> rules = annotations.parameters().stream()
                    .filter(rule -> rule.entries().matches(entry)).toList();
            for (Parameter parameter : rules.isEmpty() ? List.<Parameter>of() : parameters) {
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

    private void checkExtent(ParameterRule rule, Entry entry, List<Parameter> parameters, Set<String> told) {
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

    private void checkTies(List<ParameterRule> matching, Entry entry, Parameter parameter) {
        int narrowest = matching.stream().mapToInt(Decisions::narrowness).max().orElse(0);
        List<ParameterRule> first = matching.stream().filter(rule -> narrowness(rule) == narrowest).toList();
        for (ParameterRule other : first.isEmpty() ? first : first.subList(1, first.size())) {
            report(other.line(), entry.name() + "." + parameter.name() + " has facts in line " + first.getFirst().line()
                    + " already");
        }
    }

    private static int narrowness(ParameterRule rule) {
        return rule.entries().narrowness() + rule.parameter().narrowness();
    }

    private void report(int line, String problem) {
        problems.add(annotations.file() + ":" + line + ": " + problem);
    }
}
