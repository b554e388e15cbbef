package io.tessera.autotalk.annotation;

import io.tessera.autotalk.annotation.Annotations.ParameterRule;
import io.tessera.autotalk.annotation.Annotations.ServingRule;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.EntryParameter;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.TypeClass;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A description joined with its annotations: for each entry the decisions of both ports, and the errors and gaps.
 *
 * <p>The narrowest of several rules that match decides ({@link NamePattern#narrowness}); two equally narrow ones that differ are a problem,
 * as are rules that match nothing. There is no default: an entry without a rule is a gap. A library without a relay port has no decisions
 * for it.
 */
public final class Decisions {
    private static final String STREAM = "CUstream";

    private final Description description;
    private final List<String> problems = new ArrayList<>();
    private final RuleSet<Serving> direct;
    private final Optional<RuleSet<RelayServing>> relay;

    /** Joins a description with the decisions of the direct port alone; problems are collected, not thrown. */
    public Decisions(Description description, Annotations<Serving> annotations) {
        this(description, annotations, Optional.empty());
    }

    /** Joins a description with the decisions of both ports; problems are collected, not thrown. */
    public Decisions(Description description, Annotations<Serving> annotations,
            Optional<Annotations<RelayServing>> relayed) {
        this.description = description;
        this.direct = new RuleSet<>(description, annotations, "pass, submit, sync, room or hook", problems);
        this.relay = relayed.map(rules -> new RuleSet<>(description, rules,
                "local, call, async, wrap call, wrap async or refuse", problems));
        description.entries().values().stream().filter(Entry::exported).forEach(this::checkKnown);
    }

    /** The description. */
    public Description description() {
        return description;
    }

    /** Returns the problems that prevent generation: entries without a decision, rules that contradict each other or match nothing. */
    public List<String> problems() {
        return List.copyOf(problems);
    }

    /** Returns the decision for an exported entry; empty: there is none. */
    public Optional<Serving> serving(Entry entry) {
        return direct.deciding(entry).map(ServingRule::serving);
    }

    /** Returns whether the library has a relay port. */
    public boolean relays() {
        return relay.isPresent();
    }

    /** Returns the relay port's decision for an exported entry; empty: there is none. */
    public Optional<RelayServing> relayServing(Entry entry) {
        return relay.flatMap(rules -> rules.deciding(entry)).map(ServingRule::serving);
    }

    /** Returns the narrowest rule on a parameter of an entry. */
    public Optional<ParameterRule> fact(Entry entry, EntryParameter parameter) {
        return direct.fact(entry, parameter);
    }

    /**
     * Returns the narrowest rule on a parameter of a relayed entry, because the data that is sent may differ from what the driver takes.
     */
    public Optional<ParameterRule> relayFact(Entry entry, EntryParameter parameter) {
        return relay.flatMap(rules -> rules.fact(entry, parameter)).or(() -> fact(entry, parameter));
    }

    /** Returns the relay's annotations on members of structures. */
    public List<StructureRule> structures() {
        return relay.map(RuleSet::structures).orElse(List.of());
    }

    /**
     * Returns pointers to memory of unknown size, which a relayed call needs to know. Pointers to a single object of a known type count as
     * known; text and buffers need an extent.
     */
    public List<String> unknownExtents() {
        List<String> unknown = new ArrayList<>();
        for (Entry entry : description.entries().values()) {
            for (EntryParameter parameter : entry.signature().map(Entry.Signature::parameters).orElse(List.of())) {
                boolean known = fact(entry, parameter).flatMap(ParameterRule::space).isPresent();
                if (!known && leadsToBuffer(parameter)) {
                    unknown.add(entry.name() + "." + parameter.name() + " (" + parameter.type() + ")");
                }
            }
        }
        return unknown;
    }

    private boolean leadsToBuffer(EntryParameter parameter) {
        if (!parameter.type().isPointer() || parameter.type().target().isPointer()) {
            return false;
        }
        NamedType target = description.type(parameter.type().base()).orElseThrow();
        return target.typeClass() == TypeClass.VOID || target.name().equals("char");
    }

    /**
     * Checks that generated code has what it needs: the parameters are known, and an entry with an implicit per-thread stream has a
     * hand-written front.
     */
    private void checkKnown(Entry entry) {
        Optional<ServingRule<Serving>> rule = direct.deciding(entry);
        boolean wrapped = rule.filter(r -> r.serving().isWrapped()).isPresent();
        if (entry.signature().isEmpty() && wrapped) {
            direct.report(rule.get().line(), entry.name()
                    + " cannot have a generated wrapper: its parameters are unknown");
        }
        relay.ifPresent(rules -> rules.deciding(entry).ifPresent(relayed -> {
            boolean refused = relayed.serving() instanceof RelayServing.Refuse;
            if (entry.signature().isEmpty() && !refused) {
                rules.report(relayed.line(), entry.name() + " can only be refused: its parameters are unknown");
            } else if (!refused && !relayed.serving().handwritten() && entry.perThread().isPresent() && !takesStream(entry)) {
                rules.report(relayed.line(), entry.name() + " needs a front: its per-thread twin has no stream parameter");
            }
        }));
    }

    /** Returns whether a parameter of the entry is a stream. */
    public static boolean takesStream(Entry entry) {
        return entry.signature().stream().flatMap(signature -> signature.parameters().stream())
                .anyMatch(parameter -> parameter.type().toString().equals(STREAM));
    }
}
