package io.tessera.guardian.verify;

import io.tessera.guardian.ptx.Instruction;

/** A value that a register gets at one place, in static single assignment. Owned by the graph of one function. */
final class Node {
    /** Where a value comes from. */
    enum Kind {
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
        /** Whatever comes in: an argument for each edge. */
        PHI,
        /** The argument, where {@link #fact} holds. */
        SIGMA,
        /** Opposite of a predicate. */
        NOT,
        /** Anything. */
        UNKNOWN
    }

    static final Node[] NONE = {};

    final Kind kind;
    final int bits;
    Node[] args = NONE;
    Instruction instruction;
    int index;
    long number;
    Symbol symbol;
    String special;
    Node guard;
    boolean negated;
    Fact fact;
    /** Of {@link Kind#PHI}: the one value that comes in from everywhere, or null. */
    Node same;
    int register = -1;
    int trace;
    int position;
    Value value = Value.BOTTOM;
    int updates;
    boolean queued;
    /** Of a {@link Kind#SIGMA}: the first node behind it that is none, so that a value of which much is known is found without all that. */
    Node source;
    Node[] users = NONE;
    int userCount;

    Node(Kind kind, int bits, int trace, int position) {
        this.kind = kind;
        this.bits = bits;
        this.trace = trace;
        this.position = position;
    }

    /** The node without what is known of it in addition. */
    Node origin() {
        Node node = this;
        while (node.kind == Kind.SIGMA || node.same != null) {
            node = node.kind == Kind.SIGMA ? node.source : node.same;
        }
        return node;
    }

    /** Whether it is what an unguarded instruction of that opcode makes. */
    boolean is(String opcode) {
        return kind == Kind.RESULT && instruction.opcode().equals(opcode);
    }

    /** The same, with a first word. */
    boolean is(String opcode, String word) {
        return is(opcode) && !instruction.modifiers().isEmpty() && instruction.modifiers().getFirst().equals(word);
    }

    /** Whether the instruction's last word is one of the integer types of a width. */
    boolean typed(int width) {
        var type = instruction.type();
        return type.isPresent() && type.get().bits() == width && switch (type.get().kind()) {
            case BITS, SIGNED, UNSIGNED -> !type.get().ptx().endsWith("x2");
            default -> false;
        };
    }

    /** An argument's number, or a default where it is none. */
    long numberOf(int arg, long other) {
        return arg < args.length && args[arg].kind == Kind.NUMBER ? args[arg].number : other;
    }

    void addUser(Node user) {
        if (userCount == users.length) {
            users = java.util.Arrays.copyOf(users, Math.max(2, userCount * 2));
        }
        users[userCount++] = user;
    }
}
