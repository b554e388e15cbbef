package io.tessera.software.driver.module;

import io.tessera.guardian.ptx.Alias;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import io.tessera.guardian.ptx.Variable;
import java.util.List;
import java.util.function.UnaryOperator;

/** Directives with other names of the module's functions and variables. Names in a parsed body are never both of the module and of the function. */
final class SymbolNames {
    private final UnaryOperator<String> names;

    /** @param names the new name for each, also for those of functions' own things, which stay */
    SymbolNames(UnaryOperator<String> names) {
        this.names = names;
    }

    Directive of(Directive directive) {
        return switch (directive) {
            case Variable v ->
                new Variable(v.linkage(), v.space(), v.alignmentBytes(), v.type(), v.vectorLength(), names.apply(v.name()), v.dimensions(),
                        v.initializer().map(this::of), v.pointer(), v.attributes(), v.line());
            case PtxFunction f -> new PtxFunction(f.kind(), f.linkage(), names.apply(f.name()), f.returns(), f.parameters(), f.attributes(),
                    f.body().map(body -> new Block(body.statements().stream().map(this::of).toList(), body.line())), f.line());
            case Alias alias -> new Alias(names.apply(alias.name()), names.apply(alias.target()), alias.line());
            default -> directive;
        };
    }

    private Statement of(Statement statement) {
        return switch (statement) {
            case Instruction i -> new Instruction(i.guard(), i.opcode(), i.modifiers(), all(i.operands()), i.line());
            case TargetList list -> new TargetList(list.name(), list.kind(), list.targets().stream().map(names).toList(), list.line());
            default -> statement;
        };
    }

    private List<Operand> all(List<Operand> operands) {
        return operands.stream().map(this::of).toList();
    }

    private Operand of(Operand operand) {
        return switch (operand) {
            case Operand.Symbol(String name, long offset) -> new Operand.Symbol(names.apply(name), offset);
            case Operand.Address(Operand.Named(String name), long offset) -> new Operand.Address(new Operand.Named(names.apply(name)), offset);
            case Operand.CompoundAddress(List<Operand> parts) -> new Operand.CompoundAddress(all(parts));
            case Operand.Vector(List<Operand> elements) -> new Operand.Vector(all(elements));
            case Operand.Arguments(List<Operand> elements) -> new Operand.Arguments(all(elements));
            default -> operand;
        };
    }

    private Initializer of(Initializer initializer) {
        return switch (initializer) {
            case Initializer.AddressOf a -> new Initializer.AddressOf(names.apply(a.symbol()), a.offsetBytes(), a.generic(), a.mask());
            case Initializer.Aggregate(List<Initializer> elements) -> new Initializer.Aggregate(elements.stream().map(this::of).toList());
            default -> initializer;
        };
    }
}
