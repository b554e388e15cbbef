package io.tessera.autotalk.generate;

import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Field;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.TypeClass;
import java.util.List;

/** Sizes of structures and offsets of their members as Java: a class for each structure, under its name. Stateless. */
public final class JavaLayouts {
    private JavaLayouts() {
    }

    /** The source of {@code io.tessera.device.CudaLayouts}. */
    public static String text(Description description) {
        StringBuilder text = new StringBuilder(FileNotice.TEXT).append("""
                package io.tessera.device;

                /**
                 * Sizes of the interface's structures and offsets of their members, in bytes, on 64-bit Linux. Names are those of cuda.h;
                 * a member of an unnamed structure or union inside has its path, with underscores.
                 */
                public final class CudaLayouts {
                    private CudaLayouts() {
                    }
                """);
        for (NamedType type : description.types().values()) {
            List<Field> fields = description.fields().getOrDefault(type.name(), List.of());
            if (type.typeClass() == TypeClass.VALUE && !fields.isEmpty()) {
                text.append("\n    /** {@code ").append(type.name()).append("}. */\n    public static final class ").append(type.name())
                        .append(" {\n        /** Size. */\n        public static final int BYTES = ").append(type.bytes()).append(";\n");
                for (Field field : fields) {
                    text.append("        /** {@code ").append(field.path()).append("}. */\n        public static final int ")
                            .append(field.path().replace('.', '_')).append(" = ").append(field.offset()).append(";\n");
                }
                text.append("\n        private ").append(type.name()).append("() {\n        }\n    }\n");
            }
        }
        return text.append("}\n").toString();
    }
}
