package io.tessera.autotalk.marshal;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A member of a structure or of a nested structure.
 *
 * @param path       its name from the outermost structure
 * @param offset     offset in bytes
 * @param bytes      its size
 * @param kind       its kind for translation or checks by a relay, in the words of the Java resource; empty: neither is needed
 * @param conditions conditions that must all hold for it to be valid
 */
record StructureMember(String path, int offset, int bytes, String kind, List<Condition> conditions) {
    /** A discriminator: the number of {@code bytes} bytes at {@code offset} is one of {@code values}. */
    record Condition(int offset, int bytes, List<Long> values) {
        Condition at(int base) {
            return new Condition(base + offset, bytes, values);
        }

        boolean excludes(Condition other) {
            return offset == other.offset && values.stream().noneMatch(other.values::contains);
        }

        String words() {
            return "when " + offset + " " + bytes + " "
                    + values.stream().map(String::valueOf).collect(Collectors.joining(","));
        }
    }

    StructureMember {
        conditions = List.copyOf(conditions);
    }

    /** Returns this as a member of an enclosing structure. */
    StructureMember inside(String prefix, int base, List<Condition> more) {
        List<Condition> all = new ArrayList<>(more);
        conditions.forEach(condition -> all.add(condition.at(base)));
        return new StructureMember(prefix + path, base + offset, bytes, kind, all);
    }

    boolean overlaps(StructureMember other) {
        return offset < other.offset + other.bytes && other.offset < offset + bytes;
    }

    boolean excludes(StructureMember other) {
        return conditions.stream().anyMatch(mine -> other.conditions.stream().anyMatch(mine::excludes));
    }

    String line() {
        return path + " " + offset + " " + kind
                + conditions.stream().map(condition -> " " + condition.words()).collect(Collectors.joining());
    }
}
