package io.tessera.autotalk.description;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A type, under the name that parameters use.
 *
 * @param name      the name; for types of the language its spelling
 * @param typeClass its class
 * @param bytes     size of a value; 0: it has none
 * @param alignment alignment in bytes; 0: it has none
 * @param detail    for integers and floats the C type that it represents; for a {@link TypeClass#VALUE} how it is passed: a
 *                  letter for each eightbyte, {@code i} general register, {@code f} vector register, or {@code m} memory
 *                  (System V psABI 3.2.3); else empty
 */
public record NamedType(String name, TypeClass typeClass, int bytes, int alignment, String detail) {
    /** Size of a pointer, and of every type that is passed as one. */
    public static final int POINTER_BYTES = 8;
    private static final Map<String, NamedType> LANGUAGE = language();

    /** Returns a type of C11, {@code stddef.h} or {@code stdint.h}, which a description does not list. */
    public static Optional<NamedType> ofLanguage(String spelling) {
        return Optional.ofNullable(LANGUAGE.get(spelling));
    }

    /** Returns a number type. */
    public static NamedType number(String name, TypeClass typeClass, int bytes, String spelling) {
        return new NamedType(name, typeClass, bytes, bytes, spelling);
    }

    /** Returns how a value of this type is written in a parameter's line, as {@code u64} or {@code value(64,1)}. */
    public String passing() {
        return switch (typeClass) {
            case SIGNED, UNSIGNED, FLOATING -> typeClass.word() + bytes * Byte.SIZE;
            case ENUMERATION -> "i32";
            case VALUE -> "value(" + bytes + "," + alignment + ")";
            default -> typeClass.word();
        };
    }

    private static Map<String, NamedType> language() {
        Map<String, NamedType> types = new TreeMap<>();
        types.put("void", new NamedType("void", TypeClass.VOID, 0, 0, ""));
        add(types, TypeClass.FLOATING, 4, "float");
        add(types, TypeClass.FLOATING, 8, "double");
        add(types, TypeClass.SIGNED, 1, "char", "signed char", "int8_t");
        add(types, TypeClass.SIGNED, 2, "short", "int16_t");
        add(types, TypeClass.SIGNED, 4, "int", "int32_t");
        add(types, TypeClass.SIGNED, 8, "long", "long long", "int64_t", "ptrdiff_t", "intptr_t");
        add(types, TypeClass.UNSIGNED, 1, "_Bool", "unsigned char", "uint8_t");
        add(types, TypeClass.UNSIGNED, 2, "unsigned short", "uint16_t");
        add(types, TypeClass.UNSIGNED, 4, "unsigned int", "uint32_t");
        add(types, TypeClass.UNSIGNED, 8, "unsigned long", "unsigned long long", "uint64_t", "size_t", "uintptr_t");
        return Map.copyOf(types);
    }

    private static void add(Map<String, NamedType> types, TypeClass typeClass, int bytes, String... spellings) {
        for (String spelling : spellings) {
            types.put(spelling, number(spelling, typeClass, bytes, spelling));
        }
    }
}
