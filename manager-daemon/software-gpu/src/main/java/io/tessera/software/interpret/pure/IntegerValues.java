package io.tessera.software.interpret.pure;

import io.tessera.software.program.ValueType;

/** Reads raw bits of any integer type. Stateless. */
final class IntegerValues {
    private IntegerValues() {
    }

    /** Returns the value with the meaning of its type: sign-extended or zero-extended from the type's width. */
    static long of(ValueType type, long bits) {
        int unused = 64 - type.bits();
        return type.isSigned() ? bits << unused >> unused : bits << unused >>> unused;
    }
}
