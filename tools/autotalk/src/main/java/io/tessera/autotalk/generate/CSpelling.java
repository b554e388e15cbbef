package io.tessera.autotalk.generate;

import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.EntryParameter;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.TypeClass;
import io.tessera.autotalk.description.TypeName;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Spells the description's types in the generated C. Generated code does not need layouts of the driver's structures: behind pointers they
 * are {@code void}, by value they are blocks of bytes that are passed in the same way.
 */
final class CSpelling {
    /** Number types that the hand-written C also knows by name; others are spelled as the types that they represent. */
    private static final Set<String> KEPT = Set.of("CUdevice", "CUdeviceptr", "CUdeviceptr_v1", "CUresult");
    private static final String VOID = "void";

    private final Description description;

    CSpelling(Description description) {
        this.description = description;
    }

    /** Returns a type before a name, with a blank or a star at its end. */
    String type(TypeName type) {
        boolean pointer = type.isPointer();
        StringBuilder text = new StringBuilder(type.baseConst() ? "const " : "");
        String base = base(type.base(), pointer);
        text.append(base);
        if (!base.endsWith("*")) {
            text.append(' ');
        }
        type.pointers().forEach(constant -> text.append(constant ? "*const " : "*"));
        return text.toString();
    }

    /** Returns a parameter list, {@code void} if it is empty. */
    String parameters(List<EntryParameter> parameters) {
        return parameters.isEmpty() ? VOID : parameters.stream()
                .map(parameter -> type(parameter.type()) + parameter.name()).collect(Collectors.joining(", "));
    }

    private String base(String name, boolean pointer) {
        NamedType type = description.type(name).orElseThrow();
        if (KEPT.contains(name)) {
            return name;
        }
        return switch (type.typeClass()) {
            case SIGNED, UNSIGNED, FLOATING -> type.detail();
            case ENUMERATION -> "int";
            case HANDLE -> name;
            case ADDRESS, FUNCTION -> "void *";
            case VALUE -> pointer ? VOID : "struct " + valueTag(type);
            case OPAQUE, VOID -> VOID;
        };
    }

    /** Returns the tag of the block of bytes that represents a structure by value. */
    static String valueTag(NamedType type) {
        boolean plain = !type.detail().contains("f") && type.alignment() <= NamedType.POINTER_BYTES;
        return plain ? "tessera_value_" + type.bytes()
                : "tessera_value_" + type.bytes() + "_" + type.alignment() + "_" + type.detail();
    }

    /**
     * Returns the definition of that block. Only size, argument class and an alignment above 8 determine how a structure is passed (System
     * V psABI 3.2.3), so bytes are enough for all that are passed in general registers or memory.
     */
    static String valueDefinition(NamedType type) {
        StringBuilder body = new StringBuilder();
        if (!type.detail().contains("f")) {
            String alignment = type.alignment() > NamedType.POINTER_BYTES ? "_Alignas(" + type.alignment() + ") " : "";
            body.append("    ").append(alignment).append("unsigned char bytes[").append(type.bytes()).append("];\n");
        } else {
            for (int i = 0; i < type.detail().length(); i++) {
                int bytes = Math.min(NamedType.POINTER_BYTES, type.bytes() - i * NamedType.POINTER_BYTES);
                body.append("    ").append(eightbyte(type.detail().charAt(i), bytes)).append(" part").append(i)
                        .append(";\n");
            }
        }
        return "struct " + valueTag(type) + " {\n" + body + "};\n";
    }

    private static String eightbyte(char argumentClass, int bytes) {
        boolean whole = bytes == NamedType.POINTER_BYTES;
        return argumentClass == 'f' ? whole ? "double" : "float" : whole ? "unsigned long long" : "unsigned int";
    }

    /** Returns whether a type needs a block of bytes when it is passed by value. */
    static boolean isValue(NamedType type) {
        return type.typeClass() == TypeClass.VALUE;
    }
}
