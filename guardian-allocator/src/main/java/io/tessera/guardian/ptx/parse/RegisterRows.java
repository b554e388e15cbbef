package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Assigns names to the registers of a function. Registers of each type are counted from 0, in the order of first use. A declared register that is
 * never used costs nothing, so the declared count of a row costs no time. Not thread-safe.
 */
final class RegisterRows {
    private final Map<ScalarType, Integer> counts = new EnumMap<>(ScalarType.class);
    /** Functions have the same names: they share the objects. */
    private final Map<ScalarType, List<Operand.Register>> known = new EnumMap<>(ScalarType.class);

    /** Returns the prefix of the names of a type's registers. No prefix ends in a digit, and no prefix followed by digits is a special register. */
    static String prefix(ScalarType type) {
        return switch (type) {
            case PRED -> "%p";
            case B16 -> "%rs";
            case B32 -> "%r";
            case B64 -> "%rd";
            case F32 -> "%f";
            case F64 -> "%fd";
            default -> "%" + type.ptx() + "_";
        };
    }

    /** A new register of the function. */
    Operand.Register next(ScalarType type) {
        int number = counts.merge(type, 1, Integer::sum) - 1;
        List<Operand.Register> row = known.computeIfAbsent(type, unused -> new ArrayList<>());
        if (number == row.size()) {
            row.add(new Operand.Register(prefix(type) + number));
        }
        return row.get(number);
    }

    /** Ends a function: declarations of all its registers. */
    List<RegisterDeclaration> declarations(int line) {
        List<RegisterDeclaration> rows = new ArrayList<>(counts.size());
        counts.forEach((type, count) -> rows.add(new RegisterDeclaration(type, prefix(type), count, line)));
        counts.clear();
        return rows;
    }
}
