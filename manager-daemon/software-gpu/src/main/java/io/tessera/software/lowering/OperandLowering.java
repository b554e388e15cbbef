package io.tessera.software.lowering;

import io.tessera.guardian.ptx.Operand.Named;
import io.tessera.software.arithmetic.BinaryFormat;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.LoweredOperand.Address;
import io.tessera.software.program.RegisterClass;
import io.tessera.software.program.SpecialRegister;
import io.tessera.software.program.ValueType;
import java.util.List;

/** Lowers operands: names to registers and places, constants to bits. */
final class OperandLowering {
    private final FunctionBody function;
    private final Scope scope;
    private final int line;

    OperandLowering(FunctionBody function, Scope scope, int line) {
        this.function = function;
        this.scope = scope;
        this.line = line;
    }

    /** Adds an operand, flattened; {@code type} is what constants are cut to. */
    void add(io.tessera.guardian.ptx.Operand operand, ValueType type, List<LoweredOperand> into) {
        switch (operand) {
            case io.tessera.guardian.ptx.Operand.Register register -> into.addAll(registers(register.name()));
            case io.tessera.guardian.ptx.Operand.Vector vector ->
                vector.elements().forEach(element -> add(element, type, into));
            case io.tessera.guardian.ptx.Operand.CompoundAddress compound ->
                compound.parts().forEach(part -> add(part, type, into));
            case io.tessera.guardian.ptx.Operand.Pair pair -> {
                add(pair.first(), type, into);
                add(pair.second(), type, into);
            }
            case io.tessera.guardian.ptx.Operand.Not not -> into.add(not(not));
            default -> into.add(single(operand, type));
        }
    }

    private LoweredOperand single(io.tessera.guardian.ptx.Operand operand, ValueType type) {
        return switch (operand) {
            case io.tessera.guardian.ptx.Operand.Immediate immediate -> new LoweredOperand.Immediate(
                    cut(immediate.value(), type));
            case io.tessera.guardian.ptx.Operand.Float32 single -> new LoweredOperand.Immediate(type.bits() == 64
                    ? Double.doubleToRawLongBits(Float.intBitsToFloat(single.bits()))
                    : Integer.toUnsignedLong(single.bits()));
            case io.tessera.guardian.ptx.Operand.Float64 number -> new LoweredOperand.Immediate(FloatConstant.narrow(
                    number.bits(), type.bits(), type == ValueType.BF16 ? BinaryFormat.BF16 : BinaryFormat.F16));
            case io.tessera.guardian.ptx.Operand.SpecialRegister special -> special(special);
            case io.tessera.guardian.ptx.Operand.Component component -> component(component);
            case io.tessera.guardian.ptx.Operand.Symbol symbol -> symbol(symbol);
            case io.tessera.guardian.ptx.Operand.Address address -> address(address);
            case io.tessera.guardian.ptx.Operand.Sink _ -> new LoweredOperand.Sink();
            default -> throw function.unsupported("operand " + operand, line);
        };
    }

    private static long cut(long value, ValueType type) {
        return type.bits() >= 64 ? value : type == ValueType.PRED ? (value != 0 ? 1 : 0)
                : value & (1L << type.bits()) - 1;
    }

    private LoweredOperand not(io.tessera.guardian.ptx.Operand.Not not) {
        LoweredOperand.Register register = register(not.operand());
        if (register.registerClass() != RegisterClass.PREDICATE) {
            throw function.unsupported("negated operand that is no predicate", line);
        }
        return new LoweredOperand.Register(register.registerClass(), register.slot(), !register.negated());
    }

    private LoweredOperand.Register register(io.tessera.guardian.ptx.Operand operand) {
        if (operand instanceof io.tessera.guardian.ptx.Operand.Register register) {
            return registers(register.name()).getFirst();
        }
        throw function.unsupported("operand " + operand, line);
    }

    List<LoweredOperand.Register> registers(String name) {
        List<LoweredOperand.Register> found = scope.registers(name);
        if (found == null) {
            throw function.unsupported("undeclared register " + name, line);
        }
        return found;
    }

    private LoweredOperand special(io.tessera.guardian.ptx.Operand.SpecialRegister special) {
        SpecialRegister register = SpecialRegister.ofName(special.name().substring(1));
        if (register == null) {
            throw function.unsupported("special register " + special.name(), line);
        }
        // The fourth component of the vectors is always zero.
        if (special.component().equals("w")) {
            return new LoweredOperand.Immediate(0);
        }
        return new LoweredOperand.Special(register, Math.max(0, "xyz".indexOf(special.component())));
    }

    private LoweredOperand component(io.tessera.guardian.ptx.Operand.Component component) {
        List<LoweredOperand.Register> elements = registers(component.name());
        int element = switch (component.component()) {
            case "x", "r" -> 0;
            case "y", "g" -> 1;
            case "z", "b" -> 2;
            case "w", "a" -> 3;
            default -> -1;
        };
        if (element < 0 || element >= elements.size()) {
            throw function.unsupported("component ." + component.component(), line);
        }
        return elements.get(element);
    }

    private LoweredOperand symbol(io.tessera.guardian.ptx.Operand.Symbol symbol) {
        Integer label = scope.label(symbol.name());
        if (label != null) {
            return new LoweredOperand.Target(label);
        }
        if (symbol.name().equals("WARP_SZ")) {
            return new LoweredOperand.Immediate(32);
        }
        Scope.Place place = function.place(scope, symbol.name());
        if (place != null) {
            return at(place, symbol.offsetBytes());
        }
        if (function.kernel().program().function(symbol.name()) != null) {
            return new Address(null, function.kernel().program().function(symbol.name()).name(), false, 0);
        }
        throw function.unsupported("symbol " + symbol.name() + ": a texture, or defined in another module", line);
    }

    /** Address of a variable. */
    Address at(Scope.Place place, long offset) {
        return switch (place) {
            case Scope.Place.Module module -> new Address(null, module.symbol(), false, offset);
            case Scope.Place.Shared shared -> new Address(null, null, false, shared.offset() + offset);
            case Scope.Place.Frame frame -> new Address(null, null, true, frame.offset() + offset);
            case Scope.Place.KernelParameter parameter ->
                new Address(null, null, false, parameter.offset() + offset);
        };
    }

    private Address address(io.tessera.guardian.ptx.Operand.Address address) {
        return switch (address.base()) {
            case io.tessera.guardian.ptx.Operand.Register register ->
                new Address(registers(register.name()).getFirst(), null, false, address.offsetBytes());
            case io.tessera.guardian.ptx.Operand.Immediate absolute ->
                new Address(null, null, false, absolute.value() + address.offsetBytes());
            case Named named -> {
                Scope.Place place = function.place(scope, named.name());
                if (place == null) {
                    throw function.unsupported("variable " + named.name()
                            + ": a texture, or defined in another module", line);
                }
                yield at(place, address.offsetBytes());
            }
        };
    }
}
