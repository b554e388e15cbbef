package io.tessera.guardian.ptx;

import java.util.HashMap;
import java.util.Map;

/**
 * Types of operands and variables (PTX ISA, "Types"), the packed and the small ones of matrix instructions and
 * conversions included.
 */
public enum ScalarType {
    B1("b1", 1, Kind.BITS), B4("b4", 4, Kind.BITS), B8("b8", 8, Kind.BITS), B16("b16", 16, Kind.BITS), B32("b32", 32, Kind.BITS), B64("b64", 64,
            Kind.BITS), B128("b128", 128, Kind.BITS), U4("u4", 4, Kind.UNSIGNED), U8("u8", 8, Kind.UNSIGNED), U16("u16", 16, Kind.UNSIGNED), U32(
                    "u32", 32, Kind.UNSIGNED), U64("u64", 64, Kind.UNSIGNED), U16X2("u16x2", 32, Kind.UNSIGNED), S4("s4", 4, Kind.SIGNED), S8("s8", 8,
                            Kind.SIGNED), S16("s16", 16, Kind.SIGNED), S32("s32", 32, Kind.SIGNED), S64("s64", 64, Kind.SIGNED), S16X2("s16x2", 32,
                                    Kind.SIGNED), S2F6X2("s2f6x2", 16, Kind.SIGNED), F16("f16", 16, Kind.FLOAT), F16X2("f16x2", 32, Kind.FLOAT), BF16(
                                            "bf16", 16, Kind.FLOAT), BF16X2("bf16x2", 32, Kind.FLOAT), TF32("tf32", 32, Kind.FLOAT), F32("f32", 32,
                                                    Kind.FLOAT), F32X2("f32x2", 64, Kind.FLOAT), F64("f64", 64, Kind.FLOAT), E4M3("e4m3", 8,
                                                            Kind.FLOAT), E5M2("e5m2", 8, Kind.FLOAT), E2M3("e2m3", 8, Kind.FLOAT), E3M2("e3m2", 8,
                                                                    Kind.FLOAT), E2M1("e2m1", 4, Kind.FLOAT), UE8M0("ue8m0", 8, Kind.FLOAT), UE4M3(
                                                                            "ue4m3", 8,
                                                                            Kind.FLOAT), E4M3X2("e4m3x2", 16, Kind.FLOAT), E5M2X2("e5m2x2", 16,
                                                                                    Kind.FLOAT), E2M1X2("e2m1x2", 8, Kind.FLOAT), E2M3X2("e2m3x2", 16,
                                                                                            Kind.FLOAT), E3M2X2("e3m2x2", 16, Kind.FLOAT), UE8M0X2(
                                                                                                    "ue8m0x2", 16, Kind.FLOAT), E4M3X4("e4m3x4", 32,
                                                                                                            Kind.FLOAT), E5M2X4("e5m2x4", 32,
                                                                                                                    Kind.FLOAT), E2M1X4("e2m1x4", 16,
                                                                                                                            Kind.FLOAT), E2M3X4(
                                                                                                                                    "e2m3x4", 32,
                                                                                                                                    Kind.FLOAT), E3M2X4(
                                                                                                                                            "e3m2x4",
                                                                                                                                            32,
                                                                                                                                            Kind.FLOAT), PRED(
                                                                                                                                                    "pred",
                                                                                                                                                    1,
                                                                                                                                                    Kind.PREDICATE), TEXREF(
                                                                                                                                                            "texref",
                                                                                                                                                            64,
                                                                                                                                                            Kind.OPAQUE), SAMPLERREF(
                                                                                                                                                                    "samplerref",
                                                                                                                                                                    64,
                                                                                                                                                                    Kind.OPAQUE), SURFREF(
                                                                                                                                                                            "surfref",
                                                                                                                                                                            64,
                                                                                                                                                                            Kind.OPAQUE);

    /** Interpretation of a type's bits. */
    public enum Kind {
        /** Untyped bits. */
        BITS,
        /** Unsigned integer. */
        UNSIGNED,
        /** Two's complement integer. */
        SIGNED,
        /** Floating point. */
        FLOAT,
        /** Truth value, in registers only. */
        PREDICATE,
        /** Handle of a texture, sampler or surface. */
        OPAQUE
    }

    private static final Map<String, ScalarType> BY_NAME = new HashMap<>();

    static {
        for (ScalarType type : values()) {
            BY_NAME.put(type.ptx, type);
        }
    }

    private final String ptx;
    private final int bits;
    private final Kind kind;

    ScalarType(String ptx, int bits, Kind kind) {
        this.ptx = ptx;
        this.bits = bits;
        this.kind = kind;
    }

    /** Name in PTX without the dot. */
    public String ptx() {
        return ptx;
    }

    /** Width in bits; of a packed type, of all its parts together. */
    public int bits() {
        return bits;
    }

    /** Width in bytes, rounded up. */
    public int bytes() {
        return (bits + 7) / 8;
    }

    /** Returns the interpretation of the bits. */
    public Kind kind() {
        return kind;
    }

    /** The type that a modifier names, or null. */
    public static ScalarType of(String modifier) {
        return BY_NAME.get(modifier);
    }
}
