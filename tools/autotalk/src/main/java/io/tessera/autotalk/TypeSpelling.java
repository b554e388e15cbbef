package io.tessera.autotalk;

import java.util.Map;

/**
 * How types are spelled in a description, and in C. A description says {@code u32}, {@code size}, {@code CUstream},
 * {@code const:void*}; by-value structures are {@code value:NAME}. Enumerations are {@code i32}; pointers to structures
 * and to functions are {@code void*}, since only their address passes through.
 */
final class TypeSpelling {
    private static final Map<String, String> TO_C = Map.ofEntries(Map.entry("i32", "int"),
            Map.entry("u32", "unsigned"), Map.entry("u64", "unsigned long long"), Map.entry("i64", "long long"),
            Map.entry("u16", "unsigned short"), Map.entry("u8", "unsigned char"), Map.entry("size", "size_t"),
            Map.entry("f32", "float"), Map.entry("f64", "double"), Map.entry("char", "char"),
            Map.entry("void", "void"), Map.entry("device", "CUdevice"), Map.entry("deviceptr", "CUdeviceptr"),
            Map.entry("deviceptr32", "CUdeviceptr_v1"));

    private TypeSpelling() {
    }

    /** The type behind {@code const:} and the stars. */
    static String base(String type) {
        String base = type.startsWith("const:") ? type.substring("const:".length()) : type;
        return base.replace("*", "");
    }

    static int pointers(String type) {
        return (int) type.chars().filter(c -> c == '*').count();
    }

    static boolean isConst(String type) {
        return type.startsWith("const:");
    }

    static boolean isHandle(String base) {
        return !TO_C.containsKey(base) && !base.startsWith("value:");
    }

    /** A C declaration of a parameter of that type. */
    static String declare(String type, String name) {
        String base = base(type);
        String c = base.startsWith("value:") ? "struct tessera_value_" + base.substring("value:".length())
                : TO_C.getOrDefault(base, base);
        String stars = "*".repeat(pointers(type));
        return (isConst(type) ? "const " : "") + c + " " + stars + name;
    }
}
