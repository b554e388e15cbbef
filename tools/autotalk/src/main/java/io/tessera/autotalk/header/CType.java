package io.tessera.autotalk.header;

import java.util.ArrayList;
import java.util.List;

/** A C type as it was declared; typedef names are kept, because the description uses them. */
sealed interface CType {
    /**
     * A type of the language or of {@code stdint.h} and {@code stddef.h}.
     *
     * @param spelling as C writes it
     * @param bytes    size, and alignment; 0 for {@code void}
     * @param floating whether it is passed in a vector register
     * @param signed   whether it is a signed integer
     */
    record Basic(String spelling, int bytes, boolean floating, boolean signed) implements CType {
    }

    /** An enumeration: 4 bytes, passed as {@code int}. */
    record Enumeration(String tag) implements CType {
    }

    /** A typedef name. */
    record Alias(String name, CType target) implements CType {
    }

    /** A qualified type; only the qualifier {@code const} is significant for the direction. */
    record Const(CType of) implements CType {
    }

    /** A pointer. */
    record Pointer(CType to) implements CType {
    }

    /** An array; a parameter of this type is a pointer. */
    record Array(CType of, long count) implements CType {
    }

    /** A function; only pointers to it are ever passed. */
    record Function(CType returns, List<Variable> parameters) implements CType {
    }

    /** A parameter or a member; {@code alignment} is 0 if the type's own applies. */
    record Variable(String name, CType type, int alignment) {
    }

    /** A structure or union. It starts incomplete and is filled in when its body is read. Not thread-safe. */
    final class Aggregate implements CType {
        private final String tag;
        private final boolean union;
        private List<Variable> members = List.of();
        private boolean complete;

        Aggregate(String tag, boolean union) {
            this.tag = tag;
            this.union = union;
        }

        void complete(List<Variable> body) {
            members = List.copyOf(body);
            complete = true;
        }

        String tag() {
            return tag;
        }

        boolean union() {
            return union;
        }

        boolean isComplete() {
            return complete;
        }

        List<Variable> members() {
            return new ArrayList<>(members);
        }
    }

    /** Returns the type without typedef names and qualifiers. */
    default CType resolved() {
        CType type = this;
        while (true) {
            switch (type) {
                case Alias alias -> type = alias.target();
                case Const constant -> type = constant.of();
                default -> {
                    return type;
                }
            }
        }
    }
}
