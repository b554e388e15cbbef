package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.FunctionReport;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MovedVariables;
import io.tessera.guardian.machine.WindowPlaces;
import io.tessera.guardian.machine.align.AlignmentPlan;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.AccessDescriptors;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.container.Attributes;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Puts fences into all functions of a cubin. A function that cannot be fenced stays as it is and is reported with the reason. The result
 * must not be loaded before {@code CubinVerifier} has seen it. One owner thread; several fencers may run at a time.
 */
public final class CubinFencer {
    private final Cubin cubin;
    private final CubinSymbols symbols;
    private final MachineFence fence;
    private final VariableMoves variables;
    private final Map<Long, Integer> variablesInBank;
    private final Set<Long> assertionsInBank;
    private final boolean onlyAssertions;
    private final Pass pass;

    /** The code's parts in this order: earlier insertions are code for later ones, to be looked at and moved like any other. */
    private enum Pass {
        ALIGN, LOOK, FENCE
    }

    private CubinFencer(Cubin cubin, CubinSymbols symbols, MachineFence fence, Pass pass) throws MachineCodeException {
        this.pass = pass;
        this.cubin = cubin;
        this.symbols = symbols;
        this.fence = fence;
        this.variables = new VariableMoves(cubin, symbols);
        this.variablesInBank = variables.inBank();
        this.assertionsInBank = ContextEnds.assertionOffsets(cubin, symbols, ".nv.constant4");
        this.onlyAssertions = ContextEnds.isOnlyFunctionInBank(cubin, symbols);
    }

    /**
     * Fences a cubin.
     *
     * @param bytes of it; not changed
     * @throws MachineCodeException if it cannot be read, is for an architecture that is not known, or is not linked
     */
    public static FencedCubin fence(byte[] bytes, MachineFence fence) throws MachineCodeException {
        Architecture architecture = Cubin.read(bytes).requireKnownInstructions();
        Map<String, FunctionReport> added = new HashMap<>();
        byte[] code = bytes;
        if (fence.aligns() && architecture.hasRounding()) {
            code = before(code, fence, Pass.ALIGN, added);
        }
        if (fence.looks() && architecture.hasLooks()) {
            code = before(code, fence, Pass.LOOK, added);
        }
        FencedCubin fenced = run(code, fence, Pass.FENCE);
        return added.isEmpty() ? fenced
                : new FencedCubin(fenced.bytes(), fenced.functions().stream()
                        .map(report -> added.containsKey(report.name()) ? report.withMore(added.get(report.name())) : report).toList(),
                        fenced.moved(), fenced.assertions(),
                        fenced.window());
    }

    private static byte[] before(byte[] bytes, MachineFence fence, Pass pass, Map<String, FunctionReport> added) throws MachineCodeException {
        FencedCubin result = run(bytes, fence, pass);
        result.functions().forEach(report -> added.merge(report.name(), report, (first, second) -> second.withMore(first)));
        return result.bytes();
    }

    private static FencedCubin run(byte[] bytes, MachineFence fence, Pass pass) throws MachineCodeException {
        Cubin cubin = Cubin.read(bytes);
        cubin.requireKnownInstructions();
        return new CubinFencer(cubin, CubinSymbols.of(cubin), fence, pass).run();
    }

    private FencedCubin run() throws MachineCodeException {
        CubinSection section = cubin.section(CubinSection.ATTRIBUTES);
        if (section == null && cubin.code().isEmpty()) {
            MovedVariables moved = moveVariables();
            return new FencedCubin(cubin.bytes(), List.of(), moved, List.of(), WindowPlaces.NONE);
        }
        if (section == null) {
            throw new MachineCodeException("a cubin without attributes");
        }
        Attributes attributes = Attributes.read(section.data());
        Map<Integer, Integer> registers = attributes.registers();
        List<FunctionCode> functions = cubin.code().parallelStream().map(code -> read(code, registers)).toList();
        long shared = sharedUniforms(functions);
        LookingFunctions looks = pass == Pass.LOOK ? new LookingFunctions(fence, functions, shared) : null;
        AssertionTexts texts = AssertionTexts.of(cubin, symbols, functions);
        List<Outcome> outcomes = functions.parallelStream()
                .map(function -> switch (pass) {
                    case ALIGN -> align(function);
                    case LOOK -> look(function, looks);
                    case FENCE -> rewrite(function, functions, shared, texts);
                }).toList();
        Map<Integer, Integer> moreRegisters = new HashMap<>();
        Map<Integer, RewrittenSection> rewritten = new HashMap<>();
        List<FunctionReport> reports = new ArrayList<>();
        for (Outcome outcome : outcomes) {
            reports.add(outcome.report());
            if (outcome.result() != null) {
                outcome.store(cubin);
                rewritten.put(outcome.function().section().index(), outcome.result());
                if (outcome.plan().hasRegister()) {
                    moreRegisters.put(outcome.function().symbol(), outcome.function().registers() + 1);
                }
            }
        }
        section.data(attributes.withRegisters(moreRegisters));
        new MovedCode(cubin, symbols, rewritten).apply();
        MovedVariables moved = moveVariables();
        return new FencedCubin(cubin.bytes(), reports, moved, texts.all(), window(rewritten));
    }

    private MovedVariables moveVariables() throws MachineCodeException {
        return pass == Pass.FENCE && fence.kind() != MachineFence.Kind.NONE ? variables.apply() : MovedVariables.NONE;
    }

    private WindowPlaces window(Map<Integer, RewrittenSection> rewritten) {
        long[] offsets = cubin.offsets();
        return WindowPlaces.join(rewritten.entrySet().stream().filter(each -> each.getValue().named().count() > 0)
                .map(each -> each.getValue().named().behind(Math.toIntExact(offsets[each.getKey()]))).toList());
    }

    /**
     * Result of fencing one function.
     *
     * @param result null if it is refused
     */
    private record Outcome(FunctionCode function, FunctionReport report, FencePlan plan, RewrittenSection result, byte[] code, FunctionData data) {
        static Outcome refused(FunctionCode function, String why) {
            return new Outcome(function, new FunctionReport(function.name(), function.kernel(), function.leaves(), why, 0, 0, 0, false), null, null,
                    null,
                    null);
        }

        void store(Cubin cubin) {
            CubinSection section = function.section();
            section.data(code);
            if (plan.hasRegister() && !cubin.isOfCuda13()) {
                section.info(section.info() & 0xffffff | function.registers() + 1 << 24);
            }
            data.store();
        }
    }

    private FunctionCode read(CubinSection section, Map<Integer, Integer> registers) {
        try {
            return FunctionCode.read(cubin, section, symbols, registers);
        } catch (MachineCodeException e) {
            return FunctionCode.unread(section, symbols, e.getMessage());
        }
    }

    /** The uniform registers that functions use where they call each other, as bits; the others may keep the base for all of them. */
    private static long sharedUniforms(List<FunctionCode> functions) {
        long used = 0;
        for (FunctionCode function : functions) {
            if (function.flow() != null && (!function.kernel() || function.leaves())) {
                used |= SpareRegisters.uniforms(function.flow());
            }
        }
        return used;
    }

    private Outcome rewrite(FunctionCode function, List<FunctionCode> functions, long shared, AssertionTexts texts) {
        SectionFlow flow = function.flow();
        if (flow == null) {
            return Outcome.refused(function, function.refusal());
        }
        try {
            function.requireGlobalPointers(functions);
            Map<Integer, Integer> contextEnds = ContextEnds.find(flow, ContextEnds.assertionOffsets(cubin, symbols, function.section().name()),
                    assertionsInBank, onlyAssertions);
            if (fence.kind() != MachineFence.Kind.NONE) {
                variables.requireMovable(VariableUses.find(flow, variablesInBank, variables.inCode(function.section()), contextEnds.keySet(),
                        variables.driverCalls(flow, function.section())));
            }
            FencePlan plan = plan(function, shared);
            Map<Integer, Integer> ends = fence.reports() ? texts.numbered(function.section().name(), contextEnds) : Map.of();
            AccessDescriptors descriptors = new AccessDescriptors(flow, function.kernel() && !symbols.isNamed(function.section()));
            RewrittenSection result = new SectionRewriter(flow, fence, plan, ends, function.kernel(), descriptors).rewrite();
            byte[] code = MovedCode.bytes(result, ReturnAddresses.find(flow));
            FunctionData data = FunctionData.moved(cubin, function, result);
            FunctionReport report = new FunctionReport(function.name(), function.kernel(), function.leaves(), null, result.accesses(),
                    result.inserted(), plan.hasRegister() ? 1 : 0, !ends.isEmpty());
            return new Outcome(function, report, plan, result, code, data);
        } catch (MachineCodeException e) {
            return Outcome.refused(function, e.getMessage());
        }
    }

    /** A function whose addresses are aligned stays as it is. */
    private Outcome align(FunctionCode function) {
        try {
            AlignmentPlan alignment = function.flow() == null ? AlignmentPlan.NONE : AlignmentPlan.of(function.flow());
            return alignment.isEmpty() ? Outcome.refused(function, null)
                    : withoutFences(function, FencePlan.WITHOUT_REGISTERS, SectionRewriter.aligning(function.flow(), alignment, function.kernel()));
        } catch (MachineCodeException e) {
            return Outcome.refused(function, e.getMessage());
        }
    }

    /** A function without looks stays as it is. */
    private Outcome look(FunctionCode function, LookingFunctions looks) {
        try {
            LookPlan plan = function.flow() == null ? LookPlan.NONE : looks.plan(function);
            if (plan.isEmpty()) {
                return Outcome.refused(function, null);
            }
            FencePlan registers = plan.usesSpare() && SpareRegisters.isBeyond(LookingFunctions.spare(function), function.registers())
                    ? new FencePlan(InstructionWord.ZERO_UNIFORM, BoundPairs.NONE, LookingFunctions.spare(function))
                    : FencePlan.WITHOUT_REGISTERS;
            return withoutFences(function, registers, SectionRewriter.looking(function.flow(), plan));
        } catch (MachineCodeException e) {
            return Outcome.refused(function, e.getMessage());
        }
    }

    private Outcome withoutFences(FunctionCode function, FencePlan registers, SectionRewriter rewriter) throws MachineCodeException {
        RewrittenSection result = rewriter.rewrite();
        byte[] code = MovedCode.bytes(result, ReturnAddresses.find(function.flow()));
        FunctionReport report = new FunctionReport(function.name(), function.kernel(), function.leaves(), null, 0, result.inserted(),
                registers.hasRegister() ? 1 : 0,
                false);
        return new Outcome(function, report, registers, result, code, FunctionData.moved(cubin, function, result));
    }

    private FencePlan plan(FunctionCode function, long shared) {
        boolean alone = function.kernel() && !function.leaves();
        long used = alone ? SpareRegisters.uniforms(function.flow()) : shared;
        return switch (fence.kind()) {
            case NONE -> FencePlan.WITHOUT_REGISTERS;
            case LOW_WORD -> function.flow().architecture().addsLowWords()
                    ? new FencePlan(SpareRegisters.uniforms(used, FencePlan.BASE_PAIRS), BoundPairs.NONE, InstructionWord.ZERO_REGISTER)
                    : new FencePlan(InstructionWord.ZERO_UNIFORM, BoundPairs.of(function.flow(), used), InstructionWord.ZERO_REGISTER);
            case MASK -> new FencePlan(InstructionWord.ZERO_UNIFORM, BoundPairs.of(function.flow(), used),
                    alone ? SpareRegisters.general(function.flow(), function.registers()) : InstructionWord.ZERO_REGISTER);
        };
    }
}
