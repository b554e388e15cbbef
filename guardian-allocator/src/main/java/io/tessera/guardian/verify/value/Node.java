package io.tessera.guardian.verify.value;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.verify.Symbol;

/** A value that a register gets at one place, in static single assignment. Owned by the graph of one function. */
public final class Node implements Value.Condition {
    /** Origin of a value. */
    public enum Kind {
        /** A number in the text. */
        NUMBER,
        /** Address of a variable, plus {@link #number}. */
        SYMBOL,
        /** A special register. */
        SPECIAL,
        /** Result {@link #index} of an instruction on the arguments. */
        RESULT,
        /** The first argument where the guard holds, else the second. */
        SELECT,
        /** Any of several inputs: one argument for each edge. */
        PHI,
        /** The argument, where {@link #fact} holds. */
        SIGMA,
        /** Opposite of a predicate. */
        NOT,
        /** Anything. */
        UNKNOWN
    }

    /**
     * A fact that holds on one side of a branch.
     *
     * @param kind      its kind
     * @param target    the value that it is about
     * @param other     the value with which it is compared
     * @param compare   relation that holds: eq ne lt le gt ge
     * @param signed    whether the comparison is signed
     * @param bits      width of the comparison
     * @param align     log2 of a divisor of the target, for {@link Fact.Kind#ALIGNED}
     * @param amount    amount added to the target before the comparison, for {@link Fact.Kind#SUM}
     * @param condition holds only where this predicate does, or null
     * @param negated   holds only where it does not
     * @param second    a second condition, or null
     * @param opposite  holds only where that does not
     */
    public record Fact(Kind kind, Node target, Node other, String compare, boolean signed, int bits, int align, long amount, Node condition,
            boolean negated, Node second, boolean opposite) {
        Fact(Kind kind, Node target, Node other, String compare, boolean signed, int bits, int align) {
            this(kind, target, other, compare, signed, bits, align, 0, null, false, null, false);
        }

        /** Returns the same fact for the operand from which a compared sum was computed by adding an amount. */
        Fact before(Node summand, long by) {
            return new Fact(Kind.SUM, summand, other, compare, signed, bits, align, by, condition, negated, second, opposite);
        }

        /** Returns whether it bounds a number. */
        public boolean compares() {
            return kind == Kind.COMPARE || kind == Kind.SUM;
        }

        /** Kind of a fact. */
        public enum Kind {
            /** Compared with another. */
            COMPARE,
            /** Compared after something was added to it, modulo the width. */
            SUM,
            /** An address in the window. */
            INSIDE,
            /** An address whose low bits are zero. */
            ALIGNED,
            /** A handle whose bit is set among the tenant's. */
            HANDLE,
            /** 64 bits of which the high word is zero. */
            LOW
        }

        /** Returns this fact under the condition that a predicate holds, or does not; null if that is the third condition. */
        Fact when(Node predicate, boolean not) {
            return condition == null ? new Fact(kind, target, other, compare, signed, bits, align, amount, predicate, not, null, false)
                    : second == null ? new Fact(kind, target, other, compare, signed, bits, align, amount, condition, negated, predicate, not) : null;
        }
    }

    /** An empty array. */
    public static final Node[] NONE = {};

    /** Origin of the value. */
    public final Kind kind;
    /** Width of its register. */
    public final int bits;
    /** Values from which it is computed. */
    public Node[] args = NONE;
    /** The instruction that makes it, or null. */
    public Instruction instruction;
    /** Which of the results of {@link #instruction} it is. */
    public int index;
    /** The number of a {@link Kind#NUMBER}; the distance from the variable of a {@link Kind#SYMBOL}. */
    public long number;
    /** The variable whose address it is, or null. */
    public Symbol symbol;
    /** The special register that it is read from, or null. */
    public String special;
    /** The predicate that chooses, of a {@link Kind#SELECT}. */
    public Node guard;
    /** Whether the guard holds where its predicate is false. */
    public boolean negated;
    /** The additional knowledge of a {@link Kind#SIGMA}. */
    public Fact fact;
    /** For {@link Kind#PHI}: the one value of all inputs, or null. */
    public Node same;
    /** The register that it is in, or -1. */
    public int register = -1;
    /** The block in which it is made. */
    public int trace;
    /** Index of the instruction at which it is computed. */
    public int position;
    /** Facts about it so far. */
    public Value value = Value.BOTTOM;
    /** How often {@link #value} changed. */
    public int updates;
    /** Whether it is queued to be recomputed. */
    public boolean queued;
    /** The first node behind a {@link Kind#SIGMA} that is none, so that a value of which much is known is found without all that. */
    public Node source;
    /** Values that are computed from it: the first {@link #userCount}. */
    public Node[] users = NONE;
    /** Number of {@link #users}. */
    public int userCount;

    /** A value without arguments yet, made at that place of the text. */
    public Node(Kind kind, int bits, int trace, int position) {
        this.kind = kind;
        this.bits = bits;
        this.trace = trace;
        this.position = position;
    }

    /** The node without what is known of it in addition. */
    public Node origin() {
        Node node = this;
        while (node.kind == Kind.SIGMA || node.same != null) {
            node = node.kind == Kind.SIGMA ? node.source : node.same;
        }
        return node;
    }

    /** Returns whether it is the result of an unguarded instruction with that opcode. */
    public boolean is(String opcode) {
        return kind == Kind.RESULT && instruction.opcode().equals(opcode);
    }

    /** As above, with a first modifier. */
    public boolean is(String opcode, String word) {
        return is(opcode) && !instruction.modifiers().isEmpty() && instruction.modifiers().getFirst().equals(word);
    }

    /** Returns whether the instruction's last modifier is one of the integer types of a width. */
    public boolean typed(int width) {
        var type = instruction.type();
        return type.isPresent() && type.get().bits() == width && switch (type.get().kind()) {
            case BITS, SIGNED, UNSIGNED -> !type.get().ptx().endsWith("x2");
            default -> false;
        };
    }

    /** An argument's number, or a default where it is none. */
    public long numberOf(int arg, long other) {
        return arg < args.length && args[arg].kind == Kind.NUMBER ? args[arg].number : other;
    }

    /** Has that node looked at again when the value of this one changes. */
    public void addUser(Node user) {
        if (userCount == users.length) {
            users = java.util.Arrays.copyOf(users, Math.max(2, userCount * 2));
        }
        users[userCount++] = user;
    }
}
