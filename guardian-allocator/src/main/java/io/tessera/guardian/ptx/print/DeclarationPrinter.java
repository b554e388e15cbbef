package io.tessera.guardian.ptx.print;

import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.Variable;
import java.util.List;

/** Writes declarations and directives. Not thread-safe. */
final class DeclarationPrinter {
    private final StringBuilder out;
    private final OperandPrinter operands;

    DeclarationPrinter(StringBuilder out, OperandPrinter operands) {
        this.out = out;
        this.operands = operands;
    }

    void linkage(Linkage linkage) {
        if (linkage != Linkage.INTERNAL) {
            out.append('.').append(linkage.ptx()).append(' ');
        }
    }

    /** A variable or parameter, without what ends it. */
    void variable(Variable variable) {
        linkage(variable.linkage());
        out.append('.').append(variable.space().ptx());
        listed(variable.attributes());
        // Behind .ptr an alignment would be that of the pointee.
        if (variable.alignmentBytes() != 0) {
            out.append(" .align ").append(variable.alignmentBytes());
        }
        if (variable.vectorLength() > 1) {
            out.append(" .v").append(variable.vectorLength());
        }
        out.append(" .").append(variable.type().ptx());
        if (variable.pointer().isPresent()) {
            pointer(variable.pointer().get());
        }
        out.append(' ').append(variable.name());
        for (long length : variable.dimensions()) {
            out.append('[');
            if (length != Variable.UNSIZED) {
                out.append(length);
            }
            out.append(']');
        }
        if (variable.initializer().isPresent()) {
            out.append(" = ");
            initializer(variable.initializer().get());
        }
    }

    private void pointer(Variable.Pointer pointer) {
        out.append(" .ptr");
        if (pointer.space().isPresent()) {
            out.append(" .").append(pointer.space().get().ptx());
        }
        if (pointer.alignmentBytes() != 0) {
            out.append(" .align ").append(pointer.alignmentBytes());
        }
    }

    /** {@code .attribute(...)}, where there are any. */
    void listed(List<String> attributes) {
        if (!attributes.isEmpty()) {
            out.append(" .attribute(.").append(String.join(", .", attributes)).append(')');
        }
    }

    private void initializer(Initializer initializer) {
        switch (initializer) {
            case Initializer.Integer value -> out.append(value.value());
            case Initializer.Float32 value -> operands.float32(value.bits());
            case Initializer.Float64 value -> operands.float64(value.bits());
            case Initializer.AddressOf address -> address(address);
            case Initializer.Field field -> out.append(field.name()).append(" = ").append(field.value());
            case Initializer.Aggregate aggregate -> {
                String separator = "";
                out.append('{');
                for (Initializer element : aggregate.elements()) {
                    out.append(separator);
                    initializer(element);
                    separator = ", ";
                }
                out.append('}');
            }
        }
    }

    private void address(Initializer.AddressOf address) {
        if (address.mask() != 0) {
            out.append("0x").append(Long.toHexString(address.mask())).append('(');
        }
        if (address.generic()) {
            out.append("generic(").append(address.symbol()).append(')');
        } else {
            out.append(address.symbol());
        }
        operands.offset(address.offsetBytes());
        if (address.mask() != 0) {
            out.append(')');
        }
    }

    void parameters(List<Variable> parameters) {
        out.append('(');
        String separator = "\n\t";
        for (Variable parameter : parameters) {
            out.append(separator);
            variable(parameter);
            separator = ",\n\t";
        }
        out.append(')');
    }

    void attributes(List<FunctionAttribute> attributes) {
        for (FunctionAttribute attribute : attributes) {
            if (attribute.name().equals(FunctionAttribute.ATTRIBUTE)) {
                continue;
            }
            out.append("\n.").append(attribute.name());
            String separator = " ";
            for (long number : attribute.numbers()) {
                out.append(separator).append(number);
                separator = ", ";
            }
            if (!attribute.strings().isEmpty()) {
                out.append(' ');
                strings(attribute.strings());
                out.append(';');
            }
        }
    }

    void pragma(Pragma pragma) {
        out.append("\t.pragma ");
        strings(pragma.values());
        out.append(";\n");
    }

    private void strings(List<String> strings) {
        out.append('"').append(String.join("\", \"", strings)).append('"');
    }
}
