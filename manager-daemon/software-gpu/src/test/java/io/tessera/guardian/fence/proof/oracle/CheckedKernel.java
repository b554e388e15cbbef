package io.tessera.guardian.fence.proof.oracle;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.proof.AddressFact;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.BaseFence;
import io.tessera.guardian.fence.proof.Derivation;
import io.tessera.guardian.fence.proof.LoopCut;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.graph.AnalysedModule;
import io.tessera.guardian.fence.proof.graph.LoopForest;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.loop.CountedRanges;
import io.tessera.guardian.fence.proof.loop.Induction;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * A kernel of {@link RandomProofKernel} with its facts built in: before every instruction each register that it reads is compared with what
 * the analysis says of it, shadows are kept as a rewriter keeps them, limits of loops are cut, and an access becomes a look at its address and a load from the
 * input. What is wrong writes its number into the word at {@code err}.
 */
final class CheckedKernel {
    /** The window that shadows are forced into. */
    static final long WINDOW = 0x2000_0000_0000L;
    static final long WINDOW_BYTES = 1L << 32;
    /** Generated kernels end after a few hundred rounds: greater bounds say nothing. */
    private static final long SOON = 250;
    /** Parameters of the generated kernels. */
    private static final int IN = 0;
    private static final int ERR = 1;

    private final FunctionAnalysis analysis;
    private final AddressFacts facts;
    private final StringBuilder out = new StringBuilder();
    private final List<String> claims = new ArrayList<>();
    private final List<LoopCut> cuts;
    /** Bound of the rounds of loops that are known to end soon, by the index of their first instruction; in order. */
    private final TreeMap<Integer, Long> rounds = new TreeMap<>();

    CheckedKernel(PtxModule module) {
        PtxFunction function = module.functions().getFirst();
        FunctionAnalysis plain = FunctionAnalysis.of(function, new AnalysedModule(module)).orElseThrow();
        analysis = CountedRanges.of(plain);
        facts = new ProvedFacts(plain, analysis);
        cuts = facts.loopCuts();
        Induction induction = new Induction(plain);
        for (LoopForest.Loop loop : analysis.loops().all()) {
            if (induction.rounds(loop) < SOON && analysis.flow().start(loop.head()) < analysis.flow().end(loop.head())) {
                rounds.put(analysis.flow().start(loop.head()), induction.rounds(loop));
            }
        }
        String printed = PtxPrinter.print(module);
        out.append(printed, 0, printed.indexOf(';', printed.indexOf(".shared")) + 1);
        out.append("\n\t.reg .pred %kp;\n\t.reg .b32 %kr;\n\t.reg .b64 %kq, %kb, %kin, %err, %sh<64>;\n"
                + "\t.reg .b32 %cut<" + (cuts.size() + 1) + ">;\n"
                + "\t.reg .b32 %round<" + (analysis.code().size() + 1) + ">;\n"
                + "\tld.param.u64 %kin, [" + parameter(function, IN) + "];\n\tld.param.u64 %err, [" + parameter(function, ERR) + "];\n");
        int next = 0;
        for (Statement statement : function.body().orElseThrow().statements()) {
            if (statement instanceof Label label) {
                // Generated loops are entered from what stands before them.
                if (rounds.containsKey(next)) {
                    line("mov.u32 %%round%d, 0", next);
                }
                out.append(label.name()).append(":\n");
            } else if (statement instanceof Instruction instruction) {
                instruction(instruction);
                next++;
            }
        }
        out.append("}\n");
    }

    /** Parameters of the generated kernels have names of the parser's own here. */
    private static String parameter(PtxFunction function, int index) {
        return function.parameters().get(index).name();
    }

    String text() {
        return out.toString();
    }

    /** Returns what was claimed under a number that a kernel wrote. */
    String claim(int number) {
        return claims.get(number - 1);
    }

    int claims() {
        return claims.size();
    }

    private void line(String format, Object... arguments) {
        out.append('\t').append(String.format(format, arguments)).append(";\n");
    }

    private void wrongIf(String what) {
        claims.add(what);
        line("@%%kp st.global.u32 [%%err], %d", claims.size());
    }

    private void instruction(Instruction instruction) {
        int index = analysis.code().indexOf(instruction);
        if (analysis.ssa().uses(index).length > 0) {
            for (int k = 0; k < analysis.code().reads(index).length; k++) {
                int value = analysis.ssa().uses(index)[k];
                if (value != Ssa.NONE && analysis.ssa().bits(value) >= 16) {
                    bounds(instruction, analysis.code().name(analysis.code().reads(index)[k]), value);
                }
            }
        }
        for (Derivation derivation : facts.derivations()) {
            if (derivation.instruction() == instruction) {
                List<Operand> operands = new ArrayList<>(instruction.operands());
                operands.set(0, shadow(operands.getFirst()));
                operands.set(derivation.pointer(), shadow(operands.get(derivation.pointer())));
                out.append('\t').append(PtxPrinter.print(new Instruction(instruction.guard(), instruction.opcode(),
                        instruction.modifiers(), operands, 0))).append('\n');
            }
        }
        round(instruction, index);
        if (instruction.mnemonic().startsWith("ld.global")) {
            access(instruction);
        } else {
            out.append('\t').append(PtxPrinter.print(compared(instruction))).append('\n');
        }
        for (int cut = 0; cut < cuts.size(); cut++) {
            LoopCut each = cuts.get(cut);
            if (each.definition() == instruction) {
                line("%s.%s %%cut%d, %s, %d", each.upper() ? "min" : "max", each.type(), cut, each.limit().name(), (int) each.bound());
            }
        }
        for (BaseFence fence : facts.baseFences()) {
            if (fence.definition() == instruction) {
                String shadow = ((Operand.Register) shadow(fence.register())).name();
                line("and.b64 %s, %s, %d", shadow, fence.again() ? shadow : fence.register().name(), WINDOW_BYTES - 1);
                line("or.b64 %s, %s, %d", shadow, shadow, WINDOW);
                line("and.b64 %s, %s, %d", shadow, shadow, -fence.alignmentBytes());
            }
        }
    }

    /** Before a branch that goes back: counts, and compares with what is claimed. */
    private void round(Instruction branch, int index) {
        int[] targets = analysis.code().targets(index);
        if (!branch.opcode().equals("bra") || targets.length != 1 || targets[0] > index || !rounds.containsKey(targets[0])) {
            return;
        }
        line("@%s add.u32 %%round%d, %%round%d, 1", branch.guard().orElseThrow().register().name(), targets[0], targets[0]);
        line("setp.hi.u32 %%kp, %%round%d, %d", targets[0], rounds.get(targets[0]));
        wrongIf("at most " + rounds.get(targets[0]) + " rounds at line " + branch.line() + ": " + PtxPrinter.print(branch));
    }

    /** A comparison whose limit is cut looks at the cut one. */
    private Instruction compared(Instruction instruction) {
        for (int cut = 0; cut < cuts.size(); cut++) {
            if (cuts.get(cut).comparison() == instruction) {
                List<Operand> operands = new ArrayList<>(instruction.operands());
                operands.set(2, new Operand.Register("%cut" + cut));
                return new Instruction(instruction.guard(), instruction.opcode(), instruction.modifiers(), operands,
                        instruction.line());
            }
        }
        return instruction;
    }

    private static Operand shadow(Operand register) {
        return new Operand.Register(((Operand.Register) register).name().replace("%rd", "%sh"));
    }

    private void bounds(Instruction at, String register, int value) {
        AbstractValue state = analysis.states()[value];
        int bits = analysis.ssa().bits(value);
        String what = register + " is " + state + " before line " + at.line() + ": " + PtxPrinter.print(at);
        if (state.variable() != null && bits != 32) {
            return;
        }
        String from = register;
        if (bits == 16) {
            line("cvt.u32.u16 %%kr, %s", register);
            from = "%kr";
        } else if (state.variable() != null) {
            line("mov.u32 %%kr, %s", state.variable().name());
            line("sub.s32 %%kr, %s, %%kr", register);
            from = "%kr";
        }
        String type = bits == 64 ? "64" : "32";
        String to = bits == 64 ? "%kq" : "%kr";
        if (state.zeros() > 0) {
            line("and.b%s %s, %s, %d", type, to, from, (1L << Math.min(state.zeros(), bits)) - 1);
            line("setp.ne.u%s %%kp, %s, 0", type, to);
            wrongIf(what);
            if (bits == 16 || state.variable() != null) {
                return;
            }
        }
        if (state.bounded() && (bits == 64 || state.high() - state.low() < (1L << bits) - 1)) {
            line("sub.s%s %s, %s, %d", type, to, from, bits == 64 ? state.low() : (int) state.low());
            if (bits == 16) {
                line("and.b32 %%kr, %%kr, 65535");
            }
            line("setp.hi.u%s %%kp, %s, %d", type, to, state.high() - state.low());
            wrongIf(what);
        }
    }

    private void access(Instruction access) {
        Operand.Address address = (Operand.Address) access.operands().get(1);
        String base = ((Operand.Register) address.base()).name();
        AddressFact fact = facts.of(access, 1);
        String what = fact + " at line " + access.line() + ": " + PtxPrinter.print(access);
        int bytes = access.type().orElseThrow().bytes();
        boolean fenced = fact.placement() instanceof Placement.FencedBase;
        boolean shadowed = fenced || fact.placement() instanceof Placement.FloatingBase;
        line("add.s64 %%kb, %s, %d", shadowed ? ((Operand.Register) shadow((Operand.Register) address.base())).name() : base, address.offsetBytes());
        if (fact.alignmentBytes() > 1) {
            line("and.b64 %%kq, %%kb, %d", fact.alignmentBytes() - 1);
            line("setp.ne.u64 %%kp, %%kq, 0");
            wrongIf(what + " (alignment)");
        }
        if (fenced) {
            line("sub.s64 %%kq, %%kb, %d", WINDOW - WindowConstants.GUARD_BYTES);
            line("setp.hi.u64 %%kp, %%kq, %d", WINDOW_BYTES + 2 * WindowConstants.GUARD_BYTES - bytes);
            wrongIf(what + " (place)");
        }
        // The load itself: any of the inputs, by the address.
        line("shr.u64 %%kq, %%kb, 3");
        line("xor.b64 %%kq, %%kq, %%kb");
        line("and.b64 %%kq, %%kq, 504");
        line("add.s64 %%kq, %%kq, %%kin");
        out.append('\t').append(PtxPrinter.print(new Instruction(access.guard(), access.opcode(), access.modifiers(),
                List.of(access.operands().getFirst(), new Operand.Address(new Operand.Register("%kq"), 0)), 0))).append('\n');
    }
}
