package io.tessera.guardian.fence.variable;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Copies parameters into local memory if their generic addresses reach accesses that cannot be traced. An access of unknown space can be kept in
 * bounds of local memory, whereas the driver's data lie behind the parameters. All threads of a grid have the copy at the same local address, so an
 * address that one thread gets from another still leads to the same bytes. Stateless.
 */
public final class ParameterCopies {
    private static final int WIDEST_BYTES = 8;

    private ParameterCopies() {
    }

    /** The module with copies in some of its functions. */
    public static PtxModule made(PtxModule module, Set<String> functions) {
        List<Directive> directives = new ArrayList<>(module.directives().size());
        for (Directive directive : module.directives()) {
            directives.add(directive instanceof PtxFunction function && functions.contains(function.name()) && function.body().isPresent()
                    ? copied(function) : directive);
        }
        return new PtxModule(module.version(), module.targets(), module.addressBits(), directives);
    }

    private static PtxFunction copied(PtxFunction function) {
        List<Statement> statements = function.body().orElseThrow().statements();
        Set<String> named = new HashSet<>();
        for (Statement statement : statements) {
            if (statement instanceof Instruction i && !i.opcode().equals("call")) {
                i.operands().forEach(operand -> names(operand, named));
            }
        }
        Map<String, Variable> copies = new LinkedHashMap<>();
        List<Statement> head = new ArrayList<>();
        Code code = new Code(WindowConstants.PREFIX + "copied_");
        for (Variable parameter : function.parameters()) {
            if (named.contains(parameter.name()) && parameter.space() == StateSpace.PARAM) {
                Variable copy = new Variable(Linkage.INTERNAL, StateSpace.LOCAL, Math.max(WIDEST_BYTES, parameter.alignment()), ScalarType.B8, 1,
                        WindowConstants.PREFIX + "copy_" + copies.size(), List.of(parameter.sizeBytes()), Optional.empty(), Optional.empty(),
                        List.of(),
                        parameter.line());
                copies.put(parameter.name(), copy);
                head.add(copy);
                copy(parameter, copy, code);
            }
        }
        if (copies.isEmpty() || statements.stream().anyMatch(each -> each instanceof Variable other && named.contains(other.name())
                && other.space() == StateSpace.PARAM)) {
            return function; // its address may be one of an argument's: then the fence of the access refuses it
        }
        List<Statement> written = code.leave(new ArrayList<>());
        List<Statement> all = new ArrayList<>(code.declarations());
        all.addAll(head);
        boolean begun = false;
        for (Statement statement : statements) {
            if (!begun && (statement instanceof Instruction || statement instanceof Label)) {
                all.addAll(written);
                begun = true;
            }
            all.add(statement instanceof Instruction i ? moved(i, copies) : statement);
        }
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(), function.attributes(),
                Optional.of(new Block(all, function.body().get().line())), function.line());
    }

    private static void names(Operand operand, Set<String> into) {
        switch (operand) {
            case Operand.Symbol(String name, long _) -> into.add(name);
            case Operand.Vector(List<Operand> elements) -> elements.forEach(each -> names(each, into));
            default -> {}
        }
    }

    private static void copy(Variable parameter, Variable copy, Code code) {
        long size = parameter.sizeBytes();
        long widest = Math.min(WIDEST_BYTES, parameter.alignment());
        for (long at = 0; at < size; at += widest) {
            while (widest > 1 && at + widest > size) {
                widest /= 2;
            }
            Operand.Register register = widest == WIDEST_BYTES ? code.wide() : code.word();
            code.emit("ld.param.b" + Byte.SIZE * widest, register, Code.at(new Operand.Named(parameter.name()), at));
            code.emit("st.local.b" + Byte.SIZE * widest, Code.at(new Operand.Named(copy.name()), at), register);
        }
    }

    private static Instruction moved(Instruction i, Map<String, Variable> copies) {
        List<Operand> operands = i.operands().stream().map(operand -> moved(operand, copies)).toList();
        boolean computed = i.opcode().equals("cvta") || i.opcode().equals("isspacep")
                || i.opcode().equals("ld") && i.operands().get(1) instanceof Operand.Address(Operand.Register _, long _);
        List<String> words = i.modifiers();
        if (computed && (i.has("param") || i.has("param::entry") || i.has("param::func"))) {
            words = words.stream().map(word -> word.startsWith("param") ? "local" : word).toList();
        }
        return new Instruction(i.guard(), i.opcode(), words, operands, i.line());
    }

    private static Operand moved(Operand operand, Map<String, Variable> copies) {
        return switch (operand) {
            case Operand.Symbol(String name, long offset) when copies.containsKey(name) -> new Operand.Symbol(copies.get(name).name(), offset);
            case Operand.Vector(List<Operand> elements) -> new Operand.Vector(elements.stream().map(each -> moved(each, copies)).toList());
            default -> operand;
        };
    }
}
