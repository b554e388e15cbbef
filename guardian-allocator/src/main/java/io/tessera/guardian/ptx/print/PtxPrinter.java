package io.tessera.guardian.ptx.print;

import io.tessera.guardian.ptx.Alias;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.FileEntry;
import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.Section;
import io.tessera.guardian.ptx.Variable;

/**
 * Writes a module as PTX that means the same: reading it again gives an equal tree. Numbers that were written in another
 * form (hexadecimal, decimal fractions, expressions) keep their value, not their form. Stateless.
 */
public final class PtxPrinter {
    private PtxPrinter() {
    }

    /** The text of a module. */
    public static String print(PtxModule module) {
        StringBuilder out = new StringBuilder(1 << 14);
        OperandPrinter operands = new OperandPrinter(out);
        DeclarationPrinter declarations = new DeclarationPrinter(out, operands);
        StatementPrinter statements = new StatementPrinter(out, operands, declarations);
        out.append(".version ").append(module.version()).append("\n.target ")
                .append(String.join(", ", module.targets())).append("\n.address_size ").append(module.addressBits())
                .append("\n\n");
        for (Directive directive : module.directives()) {
            directive(directive, out, declarations, statements);
        }
        return out.toString();
    }

    /** The text of one instruction, with its semicolon, for messages. */
    public static String print(Instruction instruction) {
        StringBuilder out = new StringBuilder();
        OperandPrinter operands = new OperandPrinter(out);
        new StatementPrinter(out, operands, new DeclarationPrinter(out, operands)).instruction(instruction);
        return out.toString().strip().replace(" \t", " ");
    }

    private static void directive(Directive directive, StringBuilder out, DeclarationPrinter declarations,
            StatementPrinter statements) {
        switch (directive) {
            case PtxFunction function -> function(function, out, declarations, statements);
            case Variable variable -> {
                declarations.variable(variable);
                out.append(";\n");
            }
            case Pragma pragma -> declarations.pragma(pragma);
            case Alias alias -> out.append(".alias ").append(alias.name()).append(", ").append(alias.target())
                    .append(";\n");
            case FileEntry file -> file(file, out);
            case Section section -> section(section, out);
        }
    }

    private static void function(PtxFunction function, StringBuilder out, DeclarationPrinter declarations,
            StatementPrinter statements) {
        declarations.linkage(function.linkage());
        out.append(function.kind() == PtxFunction.Kind.ENTRY ? ".entry" : ".func");
        function.attribute(FunctionAttribute.ATTRIBUTE).ifPresent(a -> declarations.listed(a.strings()));
        if (!function.returns().isEmpty()) {
            out.append(' ');
            declarations.parameters(function.returns());
        }
        out.append(' ').append(function.name());
        declarations.parameters(function.parameters());
        declarations.attributes(function.attributes());
        out.append('\n');
        if (function.body().isPresent()) {
            statements.body(function.body().get());
        } else {
            out.append(";\n");
        }
    }

    private static void file(FileEntry file, StringBuilder out) {
        out.append("\t.file\t").append(file.index()).append(" \"").append(file.name()).append('"');
        if (file.timestamp() >= 0) {
            out.append(", ").append(file.timestamp()).append(", ").append(file.sizeBytes());
        }
        out.append('\n');
    }

    private static void section(Section section, StringBuilder out) {
        out.append("\t.section\t").append(section.name()).append("\n\t{\n");
        for (String line : section.lines()) {
            out.append(line).append('\n');
        }
        out.append("\t}\n");
    }
}
