package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Modifiers;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.ArrayList;
import java.util.List;

/**
 * Integer constants as instructions take them: NVIDIA's assembler cuts them to the width of the operand's type, and reads what is left
 * as a number of that type. So {@code setp.gt.u32 %p, %r, -16} compares with 4294967280, and {@code add.s32 %r, %r, 0x100000005} adds 5.
 * A number of untyped bits is signed. Operands of instructions that are not named here stay as they are written. Stateless.
 */
final class Literals {
    private Literals() {
    }

    /** Returns the operands, with each constant as the instruction takes it; the same list if there are no constants. */
    static List<Operand> taken(String opcode, Modifiers modifiers, List<Operand> operands) {
        List<Operand> taken = null;
        int typed = operands.size() - (modifiers.contains("L2::cache_hint") ? 1 : 0); // A cache policy has 64 bits for every type.
        for (int i = 0; i < typed; i++) {
            if (operands.get(i) instanceof Operand.Immediate || operands.get(i) instanceof Operand.Vector) {
                ScalarType type = type(opcode, modifiers, i);
                Operand cut = type == null ? operands.get(i) : cut(operands.get(i), type);
                if (cut != operands.get(i)) {
                    taken = taken == null ? new ArrayList<>(operands) : taken;
                    taken.set(i, cut);
                }
            }
        }
        return taken == null ? operands : taken;
    }

    private static Operand cut(Operand operand, ScalarType type) {
        return switch (operand) {
            case Operand.Immediate immediate -> {
                Operand.Immediate cut = cut(immediate.value(), type);
                yield cut.equals(immediate) ? immediate : cut;
            }
            case Operand.Vector(List<Operand> elements) when elements.stream().anyMatch(Operand.Immediate.class::isInstance) ->
                new Operand.Vector(elements.stream().map(each -> cut(each, type)).toList());
            default -> operand;
        };
    }

    private static Operand.Immediate cut(long value, ScalarType type) {
        int unused = Long.SIZE - type.bits();
        boolean unsigned = type.kind() == ScalarType.Kind.UNSIGNED;
        long cut = unsigned ? value << unused >>> unused : value << unused >> unused;
        return new Operand.Immediate(cut, unsigned && cut < 0);
    }

    /** Type in which an operand is taken; null where it is not known, or no integer of 8 to 64 bits. */
    private static ScalarType type(String opcode, Modifiers modifiers, int operand) {
        List<ScalarType> types = modifiers.types();
        if (types.isEmpty()) {
            return null;
        }
        ScalarType last = types.getLast();
        ScalarType type = switch (opcode) {
            case "add", "sub", "mul", "mul24", "mad24", "div", "rem", "abs", "neg", "min", "max", "addc", "subc", "madc", "and",
                    "or", "xor", "not", "cnot", "popc", "clz", "brev", "mov", "selp", "set", "setp", "cvt", "st", "atom", "red" ->
                last;
            case "mad" -> operand == 3 && modifiers.contains("wide") ? wide(last) : last;
            case "shl", "shr" -> operand == 2 ? ScalarType.U32 : last;
            case "bfe" -> operand >= 2 ? ScalarType.U32 : last;
            case "bfi" -> operand >= 3 ? ScalarType.U32 : last;
            case "sad" -> last;
            case "slct" -> operand == 3 ? last : types.getFirst();
            default -> null;
        };
        return type != null && isInteger(type) ? type : null;
    }

    private static boolean isInteger(ScalarType type) {
        boolean integer = type.kind() == ScalarType.Kind.BITS || type.kind() == ScalarType.Kind.UNSIGNED
                || type.kind() == ScalarType.Kind.SIGNED;
        // Packed types have other widths than their parts.
        return integer && switch (type.bits()) {
            case 8, 16, 32, 64 -> type.ptx().indexOf('x') < 0;
            default -> false;
        };
    }

    private static ScalarType wide(ScalarType type) {
        return ScalarType.of(type.ptx().charAt(0) + "" + 2 * type.bits());
    }
}
