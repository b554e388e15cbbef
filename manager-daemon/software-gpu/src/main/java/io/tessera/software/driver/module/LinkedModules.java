package io.tessera.software.driver.module;

import io.tessera.guardian.ptx.Alias;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.FileEntry;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.Section;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Several modules as one, by the rules of NVIDIA's linker: a name has one definition that is not weak; of weak ones the first counts, of common ones
 * the largest; all that have a name agree in its size or prototype; names that a module does not show are its own. Used once.
 */
final class LinkedModules {
    /** Functions that the device itself provides (CUDA C++ Programming Guide: formatted output, assertion, dynamic memory). */
    private static final Set<String> DEVICE_FUNCTIONS = Set.of("vprintf", "__assertfail", "malloc", "free");

    private final List<PtxModule> modules = new ArrayList<>();
    /** By name what others see, the definition where there is one. */
    private final Map<String, Directive> shown = new LinkedHashMap<>();
    private final Map<String, String> aliases = new HashMap<>();
    private final Set<String> used = new HashSet<>();
    private final List<Directive> joined = new ArrayList<>();

    /** Reports inputs that cannot be linked, in the words of a linker. */
    static final class LinkException extends Exception {
        private static final long serialVersionUID = 1L;

        LinkException(String what) {
            super(what);
        }
    }

    LinkedModules(List<PtxModule> inputs) {
        Set<String> taken = new HashSet<>();
        inputs.forEach(input -> input.directives().stream().filter(each -> !isOwn(each)).forEach(each -> taken.add(name(each))));
        inputs.forEach(input -> modules.add(apart(input, taken)));
    }

    /** Returns the module with unique names for its own symbols. */
    private static PtxModule apart(PtxModule module, Set<String> taken) {
        Map<String, String> others = new HashMap<>();
        for (Directive directive : module.directives()) {
            String name = name(directive);
            if (isOwn(directive) && !others.containsKey(name)) {
                String free = name;
                for (int n = 1; !taken.add(free); n++) {
                    free = name + "$" + n;
                }
                others.put(name, free);
            }
        }
        others.entrySet().removeIf(entry -> entry.getKey().equals(entry.getValue()));
        SymbolNames renamed = new SymbolNames(name -> others.getOrDefault(name, name));
        return others.isEmpty() ? module : new PtxModule(module.version(), module.targets(), module.addressBits(),
                module.directives().stream().map(renamed::of).toList());
    }

    private static boolean isOwn(Directive directive) {
        return linkage(directive) == Linkage.INTERNAL && !(directive instanceof PtxFunction function && function.kind() == PtxFunction.Kind.ENTRY);
    }

    private static String name(Directive directive) {
        return switch (directive) {
            case Variable variable -> variable.name();
            case PtxFunction function -> function.name();
            default -> "";
        };
    }

    /** Null of what has no name. */
    private static Linkage linkage(Directive directive) {
        return switch (directive) {
            case Variable variable -> variable.linkage();
            case PtxFunction function -> function.linkage();
            default -> null;
        };
    }

    PtxModule joined() throws LinkException {
        for (PtxModule module : modules) {
            if (module.addressBits() != modules.getFirst().addressBits()) {
                throw new LinkException("addresses of " + module.addressBits() + " bits and of " + modules.getFirst().addressBits());
            }
            module(module);
        }
        for (Map.Entry<String, Directive> entry : shown.entrySet()) {
            Directive directive = entry.getValue();
            if (isDefinition(directive) || isDynamic(directive) || DEVICE_FUNCTIONS.contains(entry.getKey())) {
                joined.add(directive);
            } else if (used.contains(entry.getKey())) {
                throw new LinkException("undefined reference to '" + entry.getKey() + "'");
            }
        }
        aliases.forEach((name, target) -> {
            if (!(shown.get(name) instanceof PtxFunction function && function.body().isPresent())) {
                joined.add(new Alias(name, target, 0));
            }
        });
        PtxModule newest = modules.stream().max(Comparator.comparing(PtxModule::version)).orElseThrow();
        return new PtxModule(newest.version(), newest.targets(), newest.addressBits(), joined);
    }

    private void module(PtxModule module) throws LinkException {
        for (Directive directive : module.directives()) {
            if (directive instanceof Alias alias) {
                aliases.putIfAbsent(alias.name(), alias.target());
                used.add(alias.target());
            }
        }
        for (Directive directive : module.directives()) {
            if (directive instanceof FileEntry || directive instanceof Section || directive instanceof Alias) {
                continue;
            }
            Set<String> names = new HashSet<>();
            new SymbolNames(name -> {
                names.add(name);
                return name;
            }).of(directive);
            names.remove(name(directive)); // it is no use of itself
            used.addAll(names);
            if (linkage(directive) == null || isOwn(directive)) {
                joined.add(directive);
            } else {
                show(directive);
            }
        }
    }

    private void show(Directive directive) throws LinkException {
        String name = name(directive);
        Directive known = shown.putIfAbsent(name, directive);
        if (known != null) {
            agree(known, directive, name);
            shown.put(name, chosen(known, directive, name));
        }
    }

    private Directive chosen(Directive known, Directive other, String name) throws LinkException {
        if (isDynamic(known) && isDynamic(other)) {
            return ((Variable) other).alignment() > ((Variable) known).alignment() ? other : known;
        }
        if (!isDefinition(known) || !isDefinition(other)) {
            return isDefinition(other) ? other : known;
        }
        if (rank(known) == 0 && rank(other) == 0) {
            throw new LinkException("multiple definition of '" + name + "'");
        }
        if (rank(known) == 2 && rank(other) == 2) {
            return ((Variable) other).sizeBytes() > ((Variable) known).sizeBytes() ? other : known;
        }
        return rank(other) < rank(known) ? other : known;
    }

    private static int rank(Directive definition) {
        return switch (linkage(definition)) {
            case WEAK -> 1;
            case COMMON -> 2;
            default -> 0;
        };
    }

    private boolean isDefinition(Directive directive) {
        return directive instanceof PtxFunction function
                ? function.body().isPresent() || function.linkage() != Linkage.EXTERN && aliases.containsKey(function.name())
                : linkage(directive) != Linkage.EXTERN;
    }

    private static boolean isDynamic(Directive directive) {
        return directive instanceof Variable variable && variable.space() == StateSpace.SHARED && variable.linkage() == Linkage.EXTERN
                && variable.dimensions().contains(Variable.UNSIZED);
    }

    private static void agree(Directive one, Directive other, String name) throws LinkException {
        if (one instanceof PtxFunction function && other instanceof PtxFunction second) {
            if (function.kind() != second.kind() || !alike(function.returns(), second.returns())
                    || !alike(function.parameters(), second.parameters())) {
                throw new LinkException("Prototype doesn't match for '" + name + "'");
            }
        } else if (one instanceof Variable variable && other instanceof Variable second && variable.space() == second.space()) {
            boolean open = variable.dimensions().contains(Variable.UNSIZED) || second.dimensions().contains(Variable.UNSIZED)
                    || variable.linkage() == Linkage.COMMON || second.linkage() == Linkage.COMMON;
            if (!open && variable.sizeBytes() != second.sizeBytes()) {
                throw new LinkException("Size doesn't match for '" + name + "'");
            }
        } else {
            throw new LinkException("Type doesn't match for '" + name + "'");
        }
    }

    private static boolean alike(List<Variable> some, List<Variable> others) {
        boolean alike = some.size() == others.size();
        for (int i = 0; alike && i < some.size(); i++) {
            alike = some.get(i).space() == others.get(i).space() && some.get(i).sizeBytes() == others.get(i).sizeBytes();
        }
        return alike;
    }
}
