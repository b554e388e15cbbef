package io.tessera.guardian.ptx.print;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.CallPrototype;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Location;
import io.tessera.guardian.ptx.Modifiers;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import io.tessera.guardian.ptx.Variable;
import java.util.List;

/** Writes the bodies of functions. Not thread-safe. */
final class StatementPrinter {
    private final StringBuilder out;
    private final OperandPrinter operands;
    private final DeclarationPrinter declarations;

    StatementPrinter(StringBuilder out, OperandPrinter operands, DeclarationPrinter declarations) {
        this.out = out;
        this.operands = operands;
        this.declarations = declarations;
    }

    void body(Block block) {
        out.append("{\n");
        for (Statement statement : block.statements()) {
            statement(statement);
        }
        out.append("}\n");
    }

    private void statement(Statement statement) {
        switch (statement) {
            case Instruction instruction -> instruction(instruction);
            case Label label -> out.append(label.name()).append(":\n");
            case RegisterDeclaration registers -> registers(registers);
            case Variable variable -> {
                out.append('\t');
                declarations.variable(variable);
                out.append(";\n");
            }
            case Location location -> location(location);
            case Pragma pragma -> declarations.pragma(pragma);
            case CallPrototype prototype -> prototype(prototype);
            case TargetList targets -> targets(targets);
        }
    }

    void instruction(Instruction instruction) {
        out.append('\t');
        if (instruction.guard().isPresent()) {
            Guard guard = instruction.guard().get();
            out.append(guard.negated() ? "@!" : "@").append(guard.register().name()).append(' ');
        }
        out.append(instruction.opcode()).append(Modifiers.of(instruction.modifiers()).text());
        List<Operand> list = instruction.operands();
        for (int i = 0; i < list.size(); i++) {
            out.append(i == 0 ? " \t" : ", ");
            operands.operand(list.get(i));
        }
        out.append(";\n");
    }

    private void registers(RegisterDeclaration row) {
        out.append("\t.reg .").append(row.type().ptx()).append(" \t").append(row.prefix()).append('<').append(row.count())
                .append(">;\n");
    }

    private void location(Location location) {
        out.append("\t.loc\t").append(location.file()).append(' ').append(location.sourceLine()).append(' ')
                .append(location.column());
        if (location.inlined().isPresent()) {
            Location.Inlined inlined = location.inlined().get();
            out.append(", function_name ").append(inlined.function());
            operands.offset(inlined.offsetBytes());
            out.append(", inlined_at ").append(inlined.file()).append(' ').append(inlined.sourceLine()).append(' ')
                    .append(inlined.column());
        }
        out.append('\n');
    }

    private void prototype(CallPrototype prototype) {
        out.append(prototype.name()).append(": .callprototype ");
        if (!prototype.returns().isEmpty()) {
            declarations.parameters(prototype.returns());
            out.append(' ');
        }
        out.append("_ ");
        declarations.parameters(prototype.parameters());
        declarations.attributes(prototype.attributes());
        out.append(";\n");
    }

    private void targets(TargetList targets) {
        out.append(targets.name()).append(targets.kind() == TargetList.Kind.BRANCH ? ": .branchtargets "
                : ": .calltargets ").append(String.join(", ", targets.targets())).append(";\n");
    }
}
