package io.tessera.software.interpret.pure;

import io.tessera.software.arithmetic.Rounding;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;

/** Finds the rounding that an instruction asks for. Stateless. */
final class RoundingModes {
    private RoundingModes() {
    }

    /** Returns the mode of a float result; to nearest even where nothing was written. */
    static Rounding ofFloat(LoweredInstruction i) {
        Modifier written = i.firstOf(Modifier.RN, Modifier.RZ, Modifier.RM, Modifier.RP, Modifier.RNA);
        return written == null ? Rounding.NEAREST_EVEN : of(written);
    }

    /** Returns the mode of a conversion to an integer; null if the instruction has none. */
    static Rounding toInteger(LoweredInstruction i) {
        Modifier written = i.firstOf(Modifier.RNI, Modifier.RZI, Modifier.RMI, Modifier.RPI);
        return written == null ? null : of(written);
    }

    private static Rounding of(Modifier written) {
        return switch (written) {
            case RZ, RZI -> Rounding.TOWARD_ZERO;
            case RM, RMI -> Rounding.DOWN;
            case RP, RPI -> Rounding.UP;
            case RNA -> Rounding.NEAREST_AWAY;
            default -> Rounding.NEAREST_EVEN;
        };
    }
}
