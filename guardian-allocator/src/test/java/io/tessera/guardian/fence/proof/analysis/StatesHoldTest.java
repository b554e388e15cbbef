package io.tessera.guardian.fence.proof.analysis;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.tessera.guardian.fence.proof.graph.AnalysedModule;
import io.tessera.guardian.fence.proof.graph.ControlFlow;
import io.tessera.guardian.fence.proof.graph.FlatCode;
import io.tessera.guardian.fence.proof.graph.LoopForest;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Proofs about registers hold in every step of {@link IntegerKernels}, for parameters near where they could fail. */
@Timeout(300)
class StatesHoldTest {
    private static final int KERNELS = Boolean.getBoolean("tessera.long") ? 3000 : 1200;
    private static final int MOST_STEPS = 400;
    private static final int[] PARAMETERS = {0, 1, 2, 3, 4, 5, 6, 7, 8, 31, 98, 99, 100, -1, -2, -3, -4, -5, -8,
            Integer.MAX_VALUE, Integer.MAX_VALUE - 1, Integer.MAX_VALUE - 4, Integer.MIN_VALUE, Integer.MIN_VALUE + 1,
            Integer.MIN_VALUE + 5};

    private FunctionAnalysis analysis;
    private EntryValues entries;
    private int[] blockOf;
    private Map<String, Integer> registers;
    private String text;
    private long bounded;
    private long entered;

    @Test
    void whatIsProvedOfRegistersHolds() throws PtxException {
        long seed = Long.getLong("tessera.seed", System.nanoTime());
        System.out.println("whatIsProvedOfRegistersHolds: seed " + seed + " (repeat with -Dtessera.seed=" + seed + ")");
        Random random = new Random(seed);
        for (int i = 0; i < KERNELS; i++) {
            text = IntegerKernels.draw(random);
            analyse();
            for (int parameter : PARAMETERS) {
                run(parameter);
            }
            run(random.nextInt());
        }
        // Bounds that say nothing hold always.
        assertTrue(bounded > 10_000, bounded + " bounds were met");
        assertTrue(entered > 1_000, entered + " loops were entered with bounds");
    }

    private void analyse() throws PtxException {
        PtxModule module = PtxParser.parse(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
                + ".reg .pred %p<4>;\n.reg .b32 %r<9>;\nld.param.u32 %r1, [n];\n" + text + "ret;\n}\n");
        analysis = FunctionAnalysis.of(module.entry("k").orElseThrow(), new AnalysedModule(module)).orElseThrow();
        entries = new EntryValues(analysis);
        ControlFlow flow = analysis.flow();
        blockOf = new int[analysis.code().size()];
        Arrays.setAll(blockOf, flow::blockOf);
    }

    private void run(int parameter) {
        FlatCode code = analysis.code();
        registers = new HashMap<>();
        int before = -1;
        int at = 0;
        for (int step = 0; step < MOST_STEPS && at < code.size(); step++) {
            checkEntry(before, at, parameter);
            check(analysis.ssa().uses(at), code.reads(at), at, parameter);
            before = at;
            at = execute(code.instruction(at), at, parameter);
            if (at < 0) {
                return;
            }
            check(analysis.ssa().results(before), code.writes(before), before, parameter);
        }
    }

    private void check(int[] values, int[] of, int at, int parameter) {
        for (int k = 0; k < values.length; k++) {
            FlatCode code = analysis.code();
            if (values[k] != Ssa.NONE && code.type(of[k]) != ScalarType.PRED) {
                AbstractValue state = analysis.states()[values[k]];
                bounded += state.bounded() ? 1 : 0;
                check(state, code.name(of[k]), at, parameter);
            }
        }
    }

    /** Into a loop's head from outside: what its phis were proved to begin with. */
    private void checkEntry(int before, int at, int parameter) {
        LoopForest.Loop loop = analysis.loops().at(blockOf[at]);
        if (before < 0 || loop == null || at != analysis.flow().start(loop.head()) || loop.contains(blockOf[before])) {
            return;
        }
        Ssa ssa = analysis.ssa();
        for (int v = 0; v < ssa.values(); v++) {
            if (ssa.kind(v) == SsaKind.PHI && ssa.block(v) == loop.head() && analysis.code().type(ssa.register(v)) != ScalarType.PRED) {
                AbstractValue state = entries.of(v, loop);
                entered += state.bounded() ? 1 : 0;
                check(state, analysis.code().name(ssa.register(v)), before, parameter);
            }
        }
    }

    private void check(AbstractValue state, String register, int at, int parameter) {
        Integer found = registers.get(register);
        if (found == null) {
            return;
        }
        long size = 1L << 32;
        long first = state.low() + Math.floorMod(found - state.low(), size);
        boolean within = !state.bounded() || first <= state.high();
        boolean multiple = Integer.numberOfTrailingZeros(found) >= Math.min(state.zeros(), 32);
        if (state.variable() != null || !within || !multiple) {
            fail(register + " is " + found + " at " + PtxPrinter.print(analysis.code().instruction(at)) + ", proved " + state
                    + ", parameter " + parameter + ":\n" + text);
        }
    }

    /** Returns the next instruction; -1 if the kernel has ended. */
    private int execute(Instruction instruction, int at, int parameter) {
        boolean runs = instruction.guard().map(guard -> guard.negated() != (registers.get(guard.register().name()) != 0)).orElse(true);
        List<Integer> operands = new ArrayList<>();
        for (Operand operand : instruction.operands()) {
            operands.add(switch (operand) {
                case Operand.Register register -> registers.get(register.name());
                case Operand.Immediate(long value, boolean unsigned) -> (int) value;
                default -> null;
            });
        }
        switch (instruction.opcode()) {
            case "ret" -> {
                return -1;
            }
            case "bra" -> {
                return runs ? analysis.code().targets(at)[0] : at + 1;
            }
            case "ld" -> write(instruction, parameter);
            case "mov" -> write(instruction, operands.get(1));
            case "add" -> write(instruction, operands.get(1) + operands.get(2));
            case "sub" -> write(instruction, operands.get(1) - operands.get(2));
            case "and" -> write(instruction, operands.get(1) & operands.get(2));
            case "setp" -> write(instruction, holds(instruction, operands.get(1), operands.get(2)) ? 1 : 0);
            default -> throw new AssertionError(instruction.opcode());
        }
        return at + 1;
    }

    private void write(Instruction instruction, int value) {
        registers.put(((Operand.Register) instruction.operands().getFirst()).name(), value);
    }

    private static boolean holds(Instruction setp, int a, int b) {
        int order = setp.has("u32") ? Integer.compareUnsigned(a, b) : Integer.compare(a, b);
        return switch (setp.modifiers().getFirst()) {
            case "lt" -> order < 0;
            case "le" -> order <= 0;
            case "gt" -> order > 0;
            case "ge" -> order >= 0;
            case "eq" -> order == 0;
            case "ne" -> order != 0;
            default -> throw new AssertionError(setp.mnemonic());
        };
    }
}
