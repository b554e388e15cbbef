package io.tessera.autotalk.header;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Types that a driver header uses without declaring them.
 *
 * <p>Sources: C11 7.19 and 7.20 with the widths of LP64; for OpenGL and EGL the Khronos registry's {@code khrplatform}
 * (GLuint and GLenum 32-bit unsigned, EGLint 32-bit signed, EGL objects pointers); for VDPAU its specification (handles
 * are 32-bit unsigned, VdpGetProcAddress a function type).
 */
final class KnownTypes {
    private KnownTypes() {
    }

    /** A fresh map from name to type. */
    static Map<String, CType> table() {
        Map<String, CType> types = new HashMap<>();
        basic(types, "size_t", 8, false);
        basic(types, "ptrdiff_t", 8, true);
        basic(types, "intptr_t", 8, true);
        basic(types, "uintptr_t", 8, false);
        for (int bits : new int[] {8, 16, 32, 64}) {
            basic(types, "int" + bits + "_t", bits / 8, true);
            basic(types, "uint" + bits + "_t", bits / 8, false);
        }
        CType.Basic word = new CType.Basic("unsigned int", 4, false, false);
        for (String name : new String[] {"GLuint", "GLenum", "VdpDevice", "VdpVideoSurface", "VdpOutputSurface"}) {
            types.put(name, new CType.Alias(name, word));
        }
        types.put("EGLint", new CType.Alias("EGLint", new CType.Basic("int", 4, false, true)));
        CType address = new CType.Pointer(new CType.Basic("void", 0, false, false));
        for (String name : new String[] {"EGLImageKHR", "EGLStreamKHR", "EGLSyncKHR"}) {
            types.put(name, new CType.Alias(name, address));
        }
        types.put("VdpGetProcAddress", new CType.Alias("VdpGetProcAddress",
                new CType.Function(word, List.of())));
        return types;
    }

    private static void basic(Map<String, CType> types, String name, int bytes, boolean signed) {
        types.put(name, new CType.Basic(name, bytes, false, signed));
    }
}
