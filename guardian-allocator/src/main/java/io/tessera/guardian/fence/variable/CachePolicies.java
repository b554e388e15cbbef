package io.tessera.guardian.fence.variable;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Cache policies of accesses ({@code .L2::cache_hint}). On an H200, some numbers that are not valid policies end the context with error 715.
 * Therefore an access keeps its policy if it is known to be a valid number, and loses it otherwise: policies only affect speed. Stateless.
 */
public final class CachePolicies {
    private static final String HINT = "L2::cache_hint";
    /** Result of {@code createpolicy.fractional} for a fraction of 1; libraries write these numbers themselves. */
    private static final long EVICT_FIRST = 0x12F0_0000_0000_0000L;
    private static final long EVICT_LAST = 0x14F0_0000_0000_0000L;
    private static final long EVICT_NORMAL = 0x1000_0000_0000_0000L;
    private static final Set<Long> KNOWN = Set.of(EVICT_FIRST, EVICT_LAST, EVICT_NORMAL);
    private static final int ONE = Float.floatToRawIntBits(1);

    private CachePolicies() {
    }

    /** The module with no policies but known ones. */
    public static PtxModule known(PtxModule module) {
        boolean any = module.directives().stream()
                .anyMatch(directive -> directive instanceof PtxFunction f && f.body().isPresent() && hints(f.body().get()));
        return !any ? module
                : new PtxModule(module.version(), module.targets(), module.addressBits(),
                        module.directives().stream().map(CachePolicies::known).toList());
    }

    private static boolean hints(Block body) {
        return body.statements().stream().anyMatch(statement -> statement instanceof Instruction instruction && instruction.has(HINT));
    }

    private static Directive known(Directive directive) {
        if (!(directive instanceof PtxFunction f) || f.body().isEmpty() || !hints(f.body().get())) {
            return directive;
        }
        Block body = f.body().get();
        SymbolTrace trace = new SymbolTrace(body);
        List<Statement> statements = body.statements().stream()
                .map(statement -> statement instanceof Instruction instruction && instruction.has(HINT) ? known(instruction, trace) : statement)
                .toList();
        return new PtxFunction(f.kind(), f.linkage(), f.name(), f.returns(), f.parameters(), f.attributes(),
                Optional.of(new Block(statements, body.line())), f.line());
    }

    private static Instruction known(Instruction instruction, SymbolTrace trace) {
        List<Operand> operands = new ArrayList<>(instruction.operands());
        Long policy = policy(operands.removeLast(), trace);
        List<String> modifiers = new ArrayList<>(instruction.modifiers());
        if (policy == null) {
            modifiers.remove(HINT);
        } else {
            operands.add(new Operand.Immediate(policy, false));
        }
        return new Instruction(instruction.guard(), instruction.opcode(), modifiers, operands, instruction.line());
    }

    /** Null: it is not known. */
    private static Long policy(Operand operand, SymbolTrace trace) {
        Long constant = trace.constant(operand);
        if (constant != null) {
            return KNOWN.contains(constant) ? constant : null;
        }
        Instruction maker = operand instanceof Operand.Register register ? trace.definition(register) : null;
        if (maker == null || !maker.opcode().equals("createpolicy") || !maker.has("fractional") || maker.guard().isPresent()
                || !isWhole(maker.operands())) {
            return null;
        }
        String first = maker.modifiers().stream().filter(word -> word.startsWith("L2::")).findFirst().orElse("");
        return switch (first) {
            case "L2::evict_first" -> EVICT_FIRST;
            case "L2::evict_last" -> EVICT_LAST;
            default -> null;
        };
    }

    private static boolean isWhole(List<Operand> operands) {
        return operands.size() == 1 || operands.get(1) instanceof Operand.Float32(int bits) && bits == ONE
                || operands.get(1) instanceof Operand.Float64(long bits) && Double.longBitsToDouble(bits) == 1;
    }
}
