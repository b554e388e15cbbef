package io.tessera.guardian.fence.proof.value;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.ScalarType;

/** Facts about one side of a comparison that held, or did not. Stateless. */
public final class Refinement {
    private Refinement() {
    }

    /**
     * Returns the relation of the first operand of a {@code setp} to the second, given that it holds or not, or with the sides exchanged.
     *
     * @return {@code eq ne lt le gt ge}, or an empty string for a comparison from which nothing follows for integers
     */
    public static String relation(Instruction setp, boolean holds, boolean exchanged) {
        String relation = switch (setp.modifiers().getFirst()) {
            case "eq" -> "eq";
            case "ne" -> "ne";
            case "lt", "lo" -> "lt";
            case "le", "ls" -> "le";
            case "gt", "hi" -> "gt";
            case "ge", "hs" -> "ge";
            default -> "";
        };
        String held = holds ? relation : switch (relation) {
            case "eq" -> "ne";
            case "ne" -> "eq";
            case "lt" -> "ge";
            case "le" -> "gt";
            case "gt" -> "le";
            case "ge" -> "lt";
            default -> "";
        };
        return !exchanged ? held : switch (held) {
            case "lt" -> "gt";
            case "le" -> "ge";
            case "gt" -> "lt";
            case "ge" -> "le";
            default -> held;
        };
    }

    /** Returns whether a comparison is signed. Equality counts as either. */
    public static boolean isSigned(Instruction setp) {
        boolean unsignedName = switch (setp.modifiers().getFirst()) {
            case "lo", "ls", "hi", "hs" -> true;
            default -> false;
        };
        return !unsignedName && setp.type().orElse(ScalarType.B32).kind() == ScalarType.Kind.SIGNED;
    }

    /**
     * Returns the values that remain possible.
     *
     * @param value    value before the comparison
     * @param relation its relation to {@code other}
     * @param other    the other side
     * @param signed   whether both are compared as signed numbers
     * @param bits     their width
     * @return null if nothing is left
     */
    public static AbstractValue apply(AbstractValue value, String relation, AbstractValue other, boolean signed, int bits) {
        if (value.variable() != null || other.variable() != null || relation.isEmpty()) {
            return value;
        }
        AbstractValue a = signed ? value.signed(bits) : value.unsigned(bits);
        AbstractValue b = signed ? other.signed(bits) : other.unsigned(bits);
        if (!b.bounded()) {
            return value;
        }
        long low = a.bounded() ? a.low() : signed ? Long.MIN_VALUE : 0;
        long high = a.bounded() ? a.high() : Long.MAX_VALUE;
        switch (relation) {
            case "eq" -> {
                low = Math.max(low, b.low());
                high = Math.min(high, b.high());
            }
            case "lt" -> high = Math.min(high, b.high() - 1);
            case "le" -> high = Math.min(high, b.high());
            case "gt" -> low = Math.max(low, b.low() + 1);
            case "ge" -> low = Math.max(low, b.low());
            default -> {
                boolean single = b.low() == b.high();
                low += single && low == b.low() ? 1 : 0;
                high -= single && high == b.high() ? 1 : 0;
            }
        }
        if (low > high) {
            return null;
        }
        AbstractValue refined = AbstractValue.of(null, false, low, high, low == high ? AbstractValue.zeros(low) : a.zeros());
        boolean better = refined.bounded() && (!value.bounded() || high - low < value.high() - value.low());
        return better ? refined : value;
    }
}
