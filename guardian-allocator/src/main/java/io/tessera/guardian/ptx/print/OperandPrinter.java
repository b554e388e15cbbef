package io.tessera.guardian.ptx.print;

import io.tessera.guardian.ptx.Operand;
import java.util.List;

/** Writes operands and numbers. Not thread-safe. */
final class OperandPrinter {
    private final StringBuilder out;

    OperandPrinter(StringBuilder out) {
        this.out = out;
    }

    void operand(Operand operand) {
        switch (operand) {
            case Operand.Register register -> out.append(register.name());
            case Operand.SpecialRegister special -> component(special.name(), special.component());
            case Operand.Component part -> component(part.name(), part.component());
            case Operand.Immediate immediate -> integer(immediate.value(), immediate.unsigned());
            case Operand.Float32 value -> float32(value.bits());
            case Operand.Float64 value -> float64(value.bits());
            case Operand.Symbol symbol -> {
                out.append(symbol.name());
                offset(symbol.offsetBytes());
            }
            case Operand.Address address -> address(address);
            case Operand.CompoundAddress compound -> list('[', compound.parts(), ']');
            case Operand.Vector vector -> list('{', vector.elements(), '}');
            case Operand.Pair pair -> {
                operand(pair.first());
                out.append('|');
                operand(pair.second());
            }
            case Operand.Not not -> {
                out.append('!');
                operand(not.operand());
            }
            case Operand.Minus minus -> {
                out.append('-');
                operand(minus.operand());
            }
            case Operand.Sink unused -> out.append('_');
            case Operand.Arguments arguments -> list('(', arguments.elements(), ')');
        }
    }

    private void component(String name, String component) {
        out.append(name);
        if (!component.isEmpty()) {
            out.append('.').append(component);
        }
    }

    private void address(Operand.Address address) {
        out.append('[');
        switch (address.base()) {
            case Operand.Register register -> out.append(register.name());
            case Operand.Named named -> out.append(named.name());
            case Operand.Immediate immediate -> integer(immediate.value(), immediate.unsigned());
        }
        offset(address.offsetBytes());
        out.append(']');
    }

    void list(char open, List<Operand> operands, char close) {
        out.append(open);
        for (int i = 0; i < operands.size(); i++) {
            if (i > 0) {
                out.append(", ");
            }
            operand(operands.get(i));
        }
        out.append(close);
    }

    void integer(long value, boolean unsigned) {
        if (!unsigned) {
            out.append(value);
        } else {
            out.append(Long.toUnsignedString(value));
            // Without the suffix, a value that fits in 63 bits would be read as signed.
            out.append(value >= 0 ? "U" : "");
        }
    }

    void offset(long offset) {
        if (offset != 0) {
            out.append('+').append(offset);
        }
    }

    void float32(int bits) {
        out.append("0f");
        hexadecimal(bits & 0xFFFFFFFFL, 8);
    }

    void float64(long bits) {
        out.append("0d");
        hexadecimal(bits, 16);
    }

    private void hexadecimal(long bits, int digits) {
        for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
            out.append("0123456789ABCDEF".charAt((int) (bits >>> shift) & 0xF));
        }
    }
}
