package io.tessera.autotalk.generate;

import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Field;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.TypeClass;
import java.util.List;

/** Sizes of structures and offsets of their members as enumerators of C: STRUCTURE_BYTES, STRUCTURE_MEMBER. Stateless. */
final class CLayouts {
    static final String HEADER = "cuda_layouts.h";

    private CLayouts() {
    }

    /** The text of the header; empty where no structure is described. */
    static String text(Description description) {
        StringBuilder rows = new StringBuilder();
        for (NamedType type : description.types().values()) {
            List<Field> fields = description.fields().getOrDefault(type.name(), List.of());
            if (type.typeClass() == TypeClass.VALUE && !fields.isEmpty()) {
                rows.append("    ").append(type.name()).append("_BYTES = ").append(type.bytes()).append(",\n");
                for (Field field : fields) {
                    rows.append("    ").append(type.name()).append('_').append(field.path().replace('.', '_')).append(" = ")
                            .append(field.offset()).append(",\n");
                }
            }
        }
        return rows.isEmpty() ? "" : FileNotice.TEXT + "/* Bytes; a member of an unnamed structure or union inside has its path, with underscores. */\n"
                + "#ifndef CUDA_LAYOUTS_H\n#define CUDA_LAYOUTS_H\n\nenum {\n" + rows + "};\n\n#endif\n";
    }
}
