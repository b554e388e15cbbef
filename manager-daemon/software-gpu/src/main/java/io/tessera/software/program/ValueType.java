package io.tessera.software.program;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** A PTX instruction type, with its width and what its bits mean. */
public enum ValueType {
    PRED(1, Kind.PREDICATE), B1(1, Kind.BITS), U4(4, Kind.UNSIGNED), S4(4, Kind.SIGNED), B8(8, Kind.BITS), B16(16, Kind.BITS), B32(32,
            Kind.BITS), B64(64, Kind.BITS), B128(128, Kind.BITS), U8(8, Kind.UNSIGNED), U16(16, Kind.UNSIGNED), U32(32, Kind.UNSIGNED), U64(64,
                    Kind.UNSIGNED), U16X2(32, Kind.UNSIGNED), S8(8, Kind.SIGNED), S16(16, Kind.SIGNED), S32(32, Kind.SIGNED), S64(64,
                            Kind.SIGNED), S16X2(32, Kind.SIGNED), F16(16, Kind.FLOAT), F16X2(32, Kind.FLOAT), BF16(16, Kind.FLOAT), BF16X2(32,
                                    Kind.FLOAT), F32(32, Kind.FLOAT), F32X2(64, Kind.FLOAT), F64(64, Kind.FLOAT), TF32(32,
                                            Kind.FLOAT), E4M3(8, Kind.FLOAT), E5M2(8, Kind.FLOAT), E4M3X2(16, Kind.FLOAT), E5M2X2(16, Kind.FLOAT);

    /** Meaning of the bits of a type. */
    public enum Kind {
        PREDICATE, BITS, UNSIGNED, SIGNED, FLOAT
    }

    private static final Map<String, ValueType> BY_TOKEN = new HashMap<>();

    static {
        for (ValueType type : values()) {
            BY_TOKEN.put(type.token(), type);
        }
    }

    private final int bits;
    private final Kind kind;

    ValueType(int bits, Kind kind) {
        this.bits = bits;
        this.kind = kind;
    }

    /** Width of a value in bits; a predicate has 1. */
    public int bits() {
        return bits;
    }

    /** Width in memory in bytes; a predicate counts as 1. */
    public int bytes() {
        return Math.max(1, bits / 8);
    }

    /** Returns the meaning of the bits. */
    public Kind kind() {
        return kind;
    }

    /** Returns whether this is a signed integer type. */
    public boolean isSigned() {
        return kind == Kind.SIGNED;
    }

    /** Returns whether this is a floating point type, packed ones included. */
    public boolean isFloat() {
        return kind == Kind.FLOAT;
    }

    /** Returns whether a value holds two numbers. */
    public boolean isPacked() {
        return name().endsWith("X2");
    }

    /** Returns the type of each half of a packed type; the type itself otherwise. */
    public ValueType element() {
        return isPacked() ? valueOf(name().substring(0, name().length() - 2)) : this;
    }

    /** The type as PTX writes it, without the dot. */
    public String token() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the type that PTX writes like this, without the dot, or null. */
    public static ValueType ofToken(String token) {
        return BY_TOKEN.get(token);
    }
}
