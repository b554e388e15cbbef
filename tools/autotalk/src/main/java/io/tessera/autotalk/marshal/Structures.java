package io.tessera.autotalk.marshal;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.RelayServing;
import io.tessera.autotalk.annotation.StructureRule;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.EntryParameter;
import io.tessera.autotalk.description.Field;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.TypeClass;
import io.tessera.autotalk.description.TypeName;
import io.tessera.autotalk.marshal.StructureMember.Condition;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Members of structures that a relay has to translate or check: handles, devices, device addresses, pointers and functions, with their
 * offsets and discriminators. Covers all structures that entries take, except refused entries, and those to which pointers in them lead.
 */
public final class Structures {
    private final Description description;
    private final List<StructureRule> rules;
    private final Set<StructureRule> used = new HashSet<>();
    private final TreeMap<String, List<StructureMember>> structures = new TreeMap<>();

    /** Joins a library's structures with the rules on them. */
    public Structures(Decisions decisions, List<StructureRule> rules) {
        this.description = decisions.description();
        this.rules = rules;
        Deque<String> open = new ArrayDeque<>();
        for (Entry entry : description.entries().values()) {
            boolean taken = decisions.relayServing(entry).filter(s -> !(s instanceof RelayServing.Refuse)).isPresent();
            entry.signature().filter(signature -> taken).ifPresent(signature -> signature.parameters().stream()
                    .map(EntryParameter::type).map(TypeName::base).forEach(open::add));
        }
        while (!open.isEmpty()) {
            String name = open.pop();
            if (description.fields().containsKey(name) && !structures.containsKey(name)) {
                structures.put(name, members(name));
                reach(name, open);
            }
        }
    }

    private void reach(String name, Deque<String> open) {
        for (Field field : description.fields().get(name)) {
            if (field.type().isPointer()) {
                open.add(field.type().base());
            } else if (description.fields().containsKey(field.type().base())) {
                reach(field.type().base(), open);
            }
        }
    }

    /** Returns rules that match nothing, and members of unions for which no rule gives a discriminator. */
    public List<String> problems() {
        List<String> problems = new ArrayList<>();
        for (StructureRule rule : rules) {
            if (!used.contains(rule)) {
                problems.add("line " + rule.line() + ": '" + rule.types().text() + "." + rule.path()
                        + "' matches no member that needs it");
            }
        }
        structures.forEach((name, members) -> members.stream().filter(member -> !member.kind().isEmpty())
                .filter(member -> ambiguous(member, members)).forEach(member -> problems.add(name + "." + member.path()
                        + " shares its place: 'structure' has to say when it is meant")));
        return problems;
    }

    private static boolean ambiguous(StructureMember member, List<StructureMember> all) {
        return member.conditions().isEmpty() && all.stream().anyMatch(other -> other != member && member.overlaps(other)
                && !(other.kind().equals(member.kind()) && other.offset() == member.offset()));
    }

    /** Returns the text of the Java resource: a line for each structure that has such members, and one for each member. */
    public String text() {
        StringBuilder text = new StringBuilder();
        structures.forEach((name, members) -> {
            Set<String> lines = new LinkedHashSet<>();
            members.stream().filter(member -> !member.kind().isEmpty()).forEach(member -> lines.add(member.line()));
            if (!lines.isEmpty()) {
                text.append("structure ").append(name.replace(' ', '~')).append(' ')
                        .append(description.type(name).orElseThrow().bytes()).append('\n');
                lines.forEach(line -> text.append(line).append('\n'));
            }
        });
        return text.toString();
    }

    private List<StructureMember> members(String structure) {
        List<StructureMember> members = new ArrayList<>();
        for (Field field : description.fields().get(structure)) {
            NamedType type = description.type(field.type().base()).orElseThrow();
            boolean inner = !field.type().isPointer() && description.fields().containsKey(type.name());
            int bytes = field.type().isPointer() ? NamedType.POINTER_BYTES : type.bytes();
            for (int i = 0; i < field.count(); i++) {
                String path = field.count() == 1 ? field.path() : field.path() + "[" + i + "]";
                int offset = field.offset() + i * bytes;
                if (inner) {
                    members(type.name()).forEach(member -> members.add(member.inside(path + ".", offset,
                            conditions(structure, path + "." + member.path()))));
                } else {
                    members.add(new StructureMember(path, offset, bytes, kind(structure, field, type),
                            conditions(structure, path)));
                }
            }
        }
        return members.stream().filter(member -> rule(structure, member.path()).noneMatch(StructureRule::ignored)).toList();
    }

    private Stream<StructureRule> rule(String structure, String path) {
        return rules.stream().filter(rule -> rule.matches(structure, path)).peek(used::add);
    }

    private List<Condition> conditions(String structure, String path) {
        List<Condition> conditions = new ArrayList<>();
        rule(structure, path).filter(rule -> rule.when().isPresent()).forEach(rule -> {
            Field discriminator = description.fields().get(structure).stream()
                    .filter(field -> field.path().equals(rule.when().get())).findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(structure + " has no member " + rule.when().get()));
            int bytes = description.type(discriminator.type().base()).orElseThrow().bytes();
            conditions.add(new Condition(discriminator.offset(), bytes, rule.values()));
        });
        return conditions;
    }

    private String kind(String structure, Field field, NamedType type) {
        Optional<String> told = rule(structure, field.path()).flatMap(rule -> rule.type().stream()).findFirst();
        String name = told.orElse(type.name());
        if (field.type().isPointer() && told.isEmpty()) {
            int bytes = field.type().target().isPointer() ? NamedType.POINTER_BYTES : Math.max(1, type.bytes());
            return "pointer " + name.replace(' ', '~') + " " + bytes;
        }
        Optional<HandleType> handle = HandleType.ofType(name);
        if (handle.isPresent() || type.typeClass() == TypeClass.HANDLE) {
            return "handle " + handle.orElse(HandleType.FOREIGN);
        }
        return switch (name) {
            case "CUdevice" -> "device";
            case "CUdeviceptr" -> "address";
            default -> type.typeClass() == TypeClass.FUNCTION || type.typeClass() == TypeClass.ADDRESS ? "function" : "";
        };
    }
}
