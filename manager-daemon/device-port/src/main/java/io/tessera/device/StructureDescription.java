package io.tessera.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;

/**
 * The fields in a structure of the driver that have to be translated or checked before it is passed from one process to another: handles, devices, addresses
 * and pointers. Structures inside of it are flattened; fields that share their place with others have conditions. Immutable and thread-safe.
 *
 * @param type   the C type
 * @param bytes  its size
 * @param fields in the order of the header; several may have one offset, under different conditions
 */
public record StructureDescription(String type, int bytes, List<Field> fields) {
    /** Copies the list. */
    public StructureDescription {
        fields = List.copyOf(fields);
    }

    /** Kind of a field. */
    public sealed interface Kind {
    }

    /** A handle of the driver, 8 bytes. */
    public record Handle(HandleKind kind) implements Kind {
    }

    /** A device ordinal, 4 bytes. */
    public record Device() implements Kind {
    }

    /** A device address, 8 bytes. */
    public record Address() implements Kind {
    }

    /** A function of the program, or an opaque address, 8 bytes. */
    public record Function() implements Kind {
    }

    /**
     * A pointer to host memory, 8 bytes.
     *
     * @param type         the type behind it; may be {@code void}
     * @param elementBytes size of an element; 1 for {@code void}, 8 for pointers
     */
    public record Pointer(String type, int elementBytes) implements Kind {
    }

    /**
     * A member.
     *
     * @param path       its name, as {@code res.array.hArray}
     * @param offset     in bytes from the start of the structure
     * @param kind       its kind
     * @param conditions all of them must hold for the field to be valid
     */
    public record Field(String path, int offset, Kind kind, List<Condition> conditions) {
        /** Copies the list. */
        public Field {
            conditions = List.copyOf(conditions);
        }

        /** Returns whether the field is valid in this structure. */
        public boolean applies(MemorySegment structure) {
            for (Condition condition : conditions) {
                if (!condition.holds(structure)) {
                    return false;
                }
            }
            return true;
        }
    }

    /**
     * A discriminator.
     *
     * @param offset in bytes from the start of the structure
     * @param bytes  its size, 4 or 8
     * @param values it must have one of these values
     */
    public record Condition(int offset, int bytes, Set<Long> values) {
        /** Copies the set. */
        public Condition {
            values = Set.copyOf(values);
        }

        /** Returns whether it holds in this structure. */
        public boolean holds(MemorySegment structure) {
            long value = bytes == Long.BYTES ? structure.get(ValueLayout.JAVA_LONG_UNALIGNED, offset)
                    : Integer.toUnsignedLong(structure.get(ValueLayout.JAVA_INT_UNALIGNED, offset));
            return values.contains(value);
        }
    }
}
