package io.tessera.guardian.fence.variable;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Writes a function's statements again, with places of a {@link LocalArena} where local variables were. Used once. */
public final class ArenaWriter {
    /** The kernel's variable, and the parameter that device functions get. */
    public static final String NAME = WindowConstants.PREFIX + "local";
    private final Map<String, Long> places;
    private final boolean kernel;
    private final Code code = new Code(WindowConstants.PREFIX + "local_");
    private Operand.Register start;

    ArenaWriter(Map<String, Long> places, boolean kernel) {
        this.places = places;
        this.kernel = kernel;
    }

    /** All of them; a function loads the address of the arena before the first that runs. */
    List<Statement> written(List<Statement> statements) {
        List<Statement> head = new ArrayList<>();
        int first = 0;
        while (first < statements.size() && !(statements.get(first) instanceof Instruction || statements.get(first) instanceof Label)) {
            Statement statement = statements.get(first++);
            if (!(statement instanceof Variable variable && places.containsKey(variable.name()))) {
                head.add(statement);
            }
        }
        for (Statement statement : statements.subList(first, statements.size())) {
            switch (statement) {
                case Instruction instruction -> instruction(instruction);
                case Variable variable when places.containsKey(variable.name()) -> {}
                default -> code.add(statement);
            }
        }
        List<Statement> run = code.leave(new ArrayList<>());
        if (start != null) {
            code.emit("ld.param.b64", start, Code.at(new Operand.Named(NAME), 0));
        }
        List<Statement> all = new ArrayList<>(code.declarations());
        all.addAll(head);
        all.addAll(code.leave(new ArrayList<>()));
        all.addAll(run);
        return all;
    }

    private void instruction(Instruction i) {
        boolean names = i.operands().stream().anyMatch(this::names);
        if (!names) {
            code.add(i);
            return;
        }
        if (!kernel && i.mnemonic().equals("mov.u64") && i.operands().get(1) instanceof Operand.Symbol(String name, long offset)) {
            code.emit(i.guard(), "add.s64", i.operands().getFirst(), start(), Code.number(places.get(name) + offset));
            return;
        }
        if (!kernel && i.opcode().equals("mov") && i.type().filter(type -> type.bits() == Integer.SIZE).isPresent()
                && i.operands().get(1) instanceof Operand.Symbol(String name, long offset)) {
            code.emit(i.guard(), "cvt.u32.u64", i.operands().getFirst(), value(places.get(name) + offset));
            return;
        }
        code.add(new Instruction(i.guard(), i.opcode(), i.modifiers(), i.operands().stream().map(this::moved).toList(), i.line()));
    }

    private boolean names(Operand operand) {
        return switch (operand) {
            case Operand.Symbol(String name, long _) -> places.containsKey(name);
            case Operand.Address(Operand.Named(String name), long _) -> places.containsKey(name);
            case Operand.Vector(List<Operand> elements) -> elements.stream().anyMatch(this::names);
            default -> false;
        };
    }

    private Operand moved(Operand operand) {
        return switch (operand) {
            case Operand.Symbol(String name, long offset) when places.containsKey(name) -> value(places.get(name) + offset);
            case Operand.Address(Operand.Named(String name), long offset) when places.containsKey(name) ->
                Code.at(kernel ? new Operand.Named(NAME) : start(), places.get(name) + offset);
            case Operand.Vector(List<Operand> elements) -> new Operand.Vector(elements.stream().map(this::moved).toList());
            default -> operand;
        };
    }

    private Operand value(long place) {
        if (kernel) {
            return new Operand.Symbol(NAME, place);
        }
        Operand.Register sum = code.wide();
        code.emit("add.s64", sum, start(), Code.number(place));
        return sum;
    }

    private Operand.Register start() {
        if (start == null) {
            start = code.wide();
        }
        return start;
    }
}
