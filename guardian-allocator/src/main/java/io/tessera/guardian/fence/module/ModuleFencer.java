package io.tessera.guardian.fence.module;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.TensorMapParameter;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.call.CallGraph;
import io.tessera.guardian.fence.call.Dispatchers;
import io.tessera.guardian.fence.control.ClusterWaits;
import io.tessera.guardian.fence.control.NamedBarriers;
import io.tessera.guardian.fence.loop.CallLooks;
import io.tessera.guardian.fence.loop.GridLook;
import io.tessera.guardian.fence.loop.GridWaits;
import io.tessera.guardian.fence.loop.LoopText;
import io.tessera.guardian.fence.plan.ModulePlan;
import io.tessera.guardian.fence.plan.Prologue;
import io.tessera.guardian.fence.variable.ModuleSymbols;
import io.tessera.guardian.ptx.Alias;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Location;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Section;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Puts a fenced module together. Used once. */
final class ModuleFencer {
    /** Workspace of {@code cooperative_groups}: the size first, then a barrier's word that starts at 0. */
    private static final int WORKSPACE_BYTES = 256;
    private static final int CONSTANT_WORDS = WindowConstants.BYTES / Long.BYTES;
    private static final int SHARED_ALIGNMENT = 16;
    /** Functions that are recursive by pointers and are refused one at a time; then all that are left. */
    private static final int MOST_ROUNDS = 16;

    private final ModulePlan plan;
    private final VariableHoister hoister;
    private final Map<String, PtxFunction> fenced = new LinkedHashMap<>();
    private final Map<String, List<String>> calls = new LinkedHashMap<>();
    /** In the order of their numbers in records; a function that is refused later keeps its number. */
    private final List<String> functionNames = new ArrayList<>();
    private final Map<String, KernelReport> reports = new LinkedHashMap<>();
    private final GridWaits waits = new GridWaits();
    private final List<TensorMapParameter> tensorMaps = new ArrayList<>();
    private final Map<String, PtxFunction> before;
    private final boolean debug;
    private boolean usesShared;
    private boolean namesBarriers;

    /**
     * Creates the fencer of a module.
     *
     * @param before functions as they were before mbarriers were rewritten in them, by name
     */
    ModuleFencer(ModulePlan plan, Map<String, PtxFunction> before) {
        this.plan = plan;
        this.before = before;
        this.hoister = new VariableHoister(plan);
        this.debug = plan.module().directives().stream().anyMatch(Section.class::isInstance);
    }

    /** Does it. */
    FencedModule fence() throws FenceRefusedException {
        functions();
        Map<String, Variable> variables = variables();
        callers();
        Map<String, FenceRefusedException> refused = refusedKernels();
        List<PtxFunction> dispatchers = plan.dispatchers().definitions(functionNames.size(), plan.id(),
                plan.passesArena());
        if (plan.mode() != FenceMode.NONE) {
            List<PtxFunction> all = new ArrayList<>(fenced.values());
            all.addAll(dispatchers);
            CallLooks looks = new CallLooks(plan.module(), all, plan.linked());
            for (PtxFunction function : plan.module().functions()) {
                String name = function.name();
                if (function.body().isPresent() && fenced.containsKey(name)) {
                    long slow = looks.slow(name, plan.watched(function).slowAgain());
                    fenced.computeIfPresent(name, (_, each) -> GridLook.looking(looks.looking(each), looks.most(name), slow));
                }
            }
            dispatchers = dispatchers.stream().map(looks::looking).toList();
        }
        if (plan.keepsBlocks()) {
            ClusterWaits ends = new ClusterWaits(fenced.values());
            fenced.replaceAll((_, function) -> ends.waiting(function));
            dispatchers = dispatchers.stream().map(ends::waiting).toList();
        }
        List<String> names = new ArrayList<>(functionNames);
        names.addAll(plan.dispatchers().names());
        List<HoistedVariable> hoisted = new ArrayList<>(hoister.hoisted());
        List<Directive> directives = new ArrayList<>(added(hoisted));
        Set<String> written = new HashSet<>();
        boolean declared = dispatchers.isEmpty();
        for (Directive directive : plan.module().directives()) {
            if (!declared && directive instanceof PtxFunction) {
                directives.addAll(plan.dispatchers().declarations(plan.passesArena()));
                declared = true;
            }
            directive(directive, variables, written, directives);
        }
        directives.addAll(dispatchers);
        // Its debug sections are dropped; and code for a debugger keeps frames apart that others do not have.
        List<String> targets = plan.module().targets().stream().filter(target -> !target.equals("debug")).toList();
        PtxModule module = new PtxModule(plan.module().version(), targets, plan.module().addressBits(), directives);
        return new FencedModule(plan.mode(), module, plan.id(), hoisted, hoister.patches(), names,
                plan.runtime().texts(), tensorMaps, refused,
                plan.mayRunInClusters(), plan.keepsBlocks(), waitingReports());
    }

    private List<KernelReport> waitingReports() {
        Map<String, String> waiting = waits.all(calls);
        return reports.values().stream().map(report -> report.waiting(waiting.get(report.name()))).toList();
    }

    private void functions() throws FenceRefusedException {
        List<PtxFunction> bodies = plan.module().functions().stream().filter(f -> f.body().isPresent()
                && !plan.refused().containsKey(f.name())).toList();
        Set<String> known = bodies.stream().map(PtxFunction::name).collect(Collectors.toSet());
        for (PtxFunction function : bodies) {
            try {
                FunctionFencer fencer = new FunctionFencer(plan, function, functionNames.size());
                functionNames.add(function.name());
                fenced.put(function.name(), fencer.fence());
                calls.put(function.name(), fencer.report().calls());
                reports.put(function.name(), fencer.report());
                PtxFunction first = before.get(function.name());
                waits.see(function, first == null ? plan.loops(function) : new LoopText(first.body().orElseThrow()), fencer.facts(), known);
                tensorMaps.addAll(fencer.tensorMaps());
                usesShared |= fencer.usesShared();
                namesBarriers |= fencer.hasNamedBarriers();
            } catch (FenceRefusedException e) {
                plan.refuse(function, e);
            }
        }
    }

    /** Refuses what calls something that is refused, and what calls itself, until all that is left can run. */
    private void callers() throws FenceRefusedException {
        refuseCallers();
        refuseRecursive(CallGraph.recursive(calls), Map.of());
        Map<String, List<String>> pointers = plan.dispatchers().calls();
        Set<String> recursive = recursive(pointers);
        for (int round = 1; !recursive.isEmpty(); round++) {
            // A refused function is no longer a target of pointers, and other functions may then no longer be recursive. Therefore one is refused at
            // a time, for a limited number of rounds.
            refuseRecursive(round < MOST_ROUNDS ? Set.of(recursive.iterator().next()) : recursive, pointers);
            pointers = plan.dispatchers().calls();
            recursive = recursive(pointers);
        }
        tensorMaps.removeIf(map -> !fenced.containsKey(map.kernel()));
    }

    private Set<String> recursive(Map<String, List<String>> pointers) {
        Map<String, List<String>> graph = new LinkedHashMap<>(calls);
        graph.putAll(pointers);
        return CallGraph.recursive(graph);
    }

    private void refuseCallers() throws FenceRefusedException {
        Map<String, List<String>> callersOf = new HashMap<>();
        calls.forEach((caller, callees) -> callees.forEach(
                callee -> callersOf.computeIfAbsent(callee, c -> new ArrayList<>()).add(caller)));
        Deque<String> open = new ArrayDeque<>(plan.refused().keySet());
        while (!open.isEmpty()) {
            String callee = open.poll();
            FenceRefusedException refusal = plan.refused().get(callee);
            for (String caller : callersOf.getOrDefault(callee, List.of())) {
                if (calls.containsKey(caller)) {
                    refuse(caller, new FenceRefusedException(refusal.name(), refusal.line(), refusal.reason()));
                    open.add(caller);
                }
            }
        }
    }

    /** Refuses functions that may call themselves, of a dispatcher all that it may call, and their callers. */
    private void refuseRecursive(Set<String> recursive, Map<String, List<String>> pointers) throws FenceRefusedException {
        for (String name : recursive) {
            if (calls.containsKey(name)) {
                refuse(name, new FenceRefusedException(name, plan.symbols().function(name).line(),
                        "may call itself, and a stack that overflows would end the shared context"));
            }
            for (String callee : pointers.getOrDefault(name, List.of())) {
                refuse(callee, new FenceRefusedException(callee, 0, "may call itself by way of a pointer"));
            }
        }
        refuseCallers();
    }

    private void refuse(String function, FenceRefusedException refusal) throws FenceRefusedException {
        plan.refuse(plan.symbols().function(function), refusal);
        fenced.remove(function);
        reports.remove(function);
        calls.remove(function);
    }

    /** Kernels, and functions that other texts may call. */
    private Map<String, FenceRefusedException> refusedKernels() throws FenceRefusedException {
        Map<String, FenceRefusedException> kernels = new LinkedHashMap<>();
        boolean left = false;
        for (PtxFunction function : plan.module().functions()) {
            FenceRefusedException refusal = plan.refused().get(function.name());
            boolean shown = function.kind() == PtxFunction.Kind.ENTRY || plan.linked() && function.linkage() != Linkage.INTERNAL;
            if (refusal != null && shown) {
                kernels.put(function.name(), refusal);
            }
            left |= function.body().isPresent() && refusal == null;
        }
        if (!left && !plan.refused().isEmpty()) {
            throw plan.refused().values().iterator().next();
        }
        return kernels;
    }

    /** Returns the replacements of the variables, by their names; functions that they name become known as targets of calls. */
    private Map<String, Variable> variables() throws FenceRefusedException {
        Map<String, Variable> replaced = new LinkedHashMap<>();
        for (Variable variable : plan.symbols().variables()) {
            replaced.put(variable.name(), hoister.replace(variable));
        }
        return replaced;
    }

    private List<Directive> added(List<HoistedVariable> hoisted) {
        Linkage linkage = plan.linked() ? Linkage.WEAK : Linkage.VISIBLE;
        List<Directive> directives = new ArrayList<>();
        directives.add(variable(linkage, StateSpace.CONST, SHARED_ALIGNMENT, ScalarType.B64, WindowConstants.NAME,
                List.of((long) CONSTANT_WORDS)));
        if (usesShared || plan.keepsBlocks()) {
            directives.add(variable(Linkage.EXTERN, StateSpace.SHARED, SHARED_ALIGNMENT, ScalarType.B8,
                    Prologue.DYNAMIC_SHARED, List.of(Variable.UNSIZED)));
        }
        if (namesBarriers) {
            directives.add(variable(Linkage.INTERNAL, StateSpace.SHARED, SHARED_ALIGNMENT, ScalarType.B8, NamedBarriers.NAME,
                    List.of((long) NamedBarriers.BARRIERS * NamedBarriers.BARRIER_BYTES)));
        }
        if (plan.usesWorkspace()) {
            String constant = ModuleSymbols.addressConstant(ModulePlan.WORKSPACE);
            directives.add(variable(linkage, StateSpace.CONST, 0, ScalarType.B64, constant, List.of()));
            byte[] initial = {(byte) WORKSPACE_BYTES, (byte) (WORKSPACE_BYTES >> 8)};
            hoisted.add(new HoistedVariable(ModulePlan.WORKSPACE, constant, linkage, false, false, WORKSPACE_BYTES,
                    WORKSPACE_BYTES, initial, List.of()));
        }
        directives.addAll(plan.runtime().formats());
        return directives;
    }

    private static Variable variable(Linkage linkage, StateSpace space, int alignment, ScalarType type, String name,
            List<Long> dimensions) {
        return new Variable(linkage, space, alignment, type, 1, name, dimensions, Optional.empty(), Optional.empty(),
                List.of(), 0);
    }

    private void directive(Directive directive, Map<String, Variable> variables, Set<String> written,
            List<Directive> into) {
        switch (directive) {
            case Variable variable -> {
                if (written.add(variable.name())) {
                    into.add(variables.get(variable.name()));
                }
            }
            case PtxFunction function -> {
                if (!isRefused(function.name())) {
                    into.add(function(function));
                }
            }
            // Debug information names variables that are gone.
            case Section _ -> {}
            // Hints for the whole module; none is needed.
            case Pragma _ -> {}
            case Alias alias -> {
                if (!isRefused(alias.target())) {
                    into.add(alias);
                }
            }
            default -> into.add(directive);
        }
    }

    private boolean isRefused(String function) {
        PtxFunction definition = plan.symbols().function(function);
        return definition != null && plan.refused().containsKey(definition.name());
    }

    private PtxFunction function(PtxFunction function) {
        PtxFunction rewritten = function.body().isEmpty() ? function : plan.moved(fenced.get(function.name()));
        PtxFunction definition = plan.symbols().function(function.name());
        boolean gets = plan.passesArena() && function.kind() == PtxFunction.Kind.FUNC && definition.body().isPresent();
        List<Variable> parameters = new ArrayList<>(rewritten.parameters());
        if (gets) {
            parameters.add(Dispatchers.arena());
        }
        return new PtxFunction(rewritten.kind(), rewritten.linkage(), rewritten.name(), rewritten.returns(), parameters,
                rewritten.attributes(), debug ? rewritten.body().map(ModuleFencer::withoutInlining) : rewritten.body(),
                rewritten.line());
    }

    /** Lines of the source stay; names in the debug information show where code was inlined. */
    private static Block withoutInlining(Block block) {
        List<Statement> statements = new ArrayList<>(block.statements().size());
        for (Statement statement : block.statements()) {
            statements.add(switch (statement) {
                case Location location when location.inlined().isPresent() -> new Location(location.file(),
                        location.sourceLine(), location.column(), Optional.empty(), location.line());
                default -> statement;
            });
        }
        return new Block(statements, block.line());
    }
}
