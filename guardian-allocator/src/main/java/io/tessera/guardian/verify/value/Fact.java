package io.tessera.guardian.verify.value;

/**
 * What holds where a branch went one way.
 *
 * @param kind      what
 * @param target    of which value
 * @param other     what it is compared with
 * @param compare   how: eq ne lt le gt ge, as it holds
 * @param signed    whether it is compared as a signed number
 * @param bits      width that is compared
 * @param align     log2 of what divides the target, of {@link Kind#ALIGNED}
 * @param condition holds only where this predicate does, or null
 * @param negated   holds only where it does not
 * @param second    a second condition, or null
 * @param opposite  holds only where that does not
 */
public record Fact(Kind kind, Node target, Node other, String compare, boolean signed, int bits, int align, Node condition, boolean negated,
        Node second,
        boolean opposite) {
    Fact(Kind kind, Node target, Node other, String compare, boolean signed, int bits, int align) {
        this(kind, target, other, compare, signed, bits, align, null, false, null, false);
    }

    /** What holds. */
    public enum Kind {
        /** Compared with another. */
        COMPARE,
        /** An address in the window. */
        INSIDE,
        /** An address whose low bits are zero. */
        ALIGNED,
        /** A handle whose bit is set among the tenant's. */
        HANDLE,
        /** 64 bits of which the high word is zero. */
        LOW
    }

    /** The same, only where a predicate holds, or does not; null where that is the third condition. */
    Fact when(Node predicate, boolean not) {
        return condition == null ? new Fact(kind, target, other, compare, signed, bits, align, predicate, not, null, false)
                : second == null ? new Fact(kind, target, other, compare, signed, bits, align, condition, negated, predicate, not) : null;
    }
}
