package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.List;

/**
 * The body of one function while it is read: blocks are gone, declarations come first, and names that were used before they were
 * known are put in at the end. Not thread-safe.
 */
final class FunctionText {
    private final Scopes scopes;
    private final List<Variable> variables = new ArrayList<>(0);
    /** Variables that live as long as the module. */
    private final List<Variable> globals = new ArrayList<>(0);
    private final List<Statement> statements = new ArrayList<>();
    /** Indexes of statements with names that are not yet known. */
    private final List<Integer> open = new ArrayList<>();

    FunctionText(Scopes scopes) {
        this.scopes = scopes;
    }

    void add(Statement statement) {
        statements.add(statement);
    }

    /** Takes a variable that is declared in the body. */
    void declare(Variable variable) {
        (variable.space() == StateSpace.GLOBAL || variable.space() == StateSpace.CONST ? globals : variables).add(variable);
    }

    /** Returns the variables that belong before the function. */
    List<Variable> globals() {
        return globals;
    }

    /** Takes an instruction or list of targets with a name that is not known yet. */
    void addOpen(Statement statement) {
        open.add(statements.size());
        statements.add(statement);
    }

    /** The body, once its scope has been left. */
    Block finish(int line) {
        for (int index : open) {
            statements.set(index, switch (statements.get(index)) {
                case Instruction i -> new Instruction(i.guard(), i.opcode(), i.modifiers(),
                        i.operands().stream().map(this::resolved).toList(), i.line());
                case TargetList list -> new TargetList(list.name(), list.kind(),
                        list.targets().stream().map(scopes::resolved).toList(), list.line());
                case Statement other -> other;
            });
        }
        List<Statement> whole = new ArrayList<>(variables.size() + statements.size() + 8);
        whole.addAll(scopes.registers().declarations(line));
        whole.addAll(variables);
        whole.addAll(statements);
        return new Block(whole, line);
    }

    private Operand resolved(Operand operand) {
        return switch (operand) {
            case Operand.Symbol(String name, long offset) -> new Operand.Symbol(scopes.resolved(name), offset);
            case Operand.Address(Operand.Named(String name), long offset) ->
                new Operand.Address(new Operand.Named(scopes.resolved(name)), offset);
            case Operand.CompoundAddress(List<Operand> parts) ->
                new Operand.CompoundAddress(parts.stream().map(this::resolved).toList());
            case Operand.Vector(List<Operand> elements) -> new Operand.Vector(elements.stream().map(this::resolved).toList());
            case Operand.Arguments(List<Operand> elements) ->
                new Operand.Arguments(elements.stream().map(this::resolved).toList());
            default -> operand;
        };
    }
}
