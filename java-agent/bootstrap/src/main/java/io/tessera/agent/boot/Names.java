package io.tessera.agent.boot;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads names from arguments. */
final class Names {
    private Names() {
    }

    /** Returns the text of a String, of the bytes before a NUL, or of an object with a method for it (JavaCPP's BytePointer). */
    static String of(Object name) throws ReflectiveOperationException {
        if (name instanceof CharSequence) {
            return name.toString();
        }
        if (name instanceof byte[]) {
            return text(ByteBuffer.wrap((byte[]) name));
        }
        if (name instanceof ByteBuffer) {
            return text(((ByteBuffer) name).duplicate());
        }
        return (String) name.getClass().getMethod("getString").invoke(name);
    }

    private static String text(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        int end = 0;
        while (end < copy.length && copy[end] != 0) {
            end++;
        }
        return new String(copy, 0, end, StandardCharsets.UTF_8);
    }
}
