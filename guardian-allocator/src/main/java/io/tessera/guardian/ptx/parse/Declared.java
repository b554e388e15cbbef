package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.ArrayList;
import java.util.List;

/** The declaration that a name in a function refers to: one object for each declaration. Not thread-safe. */
final class Declared {
    /** Kind of a declaration. */
    enum Kind {
        /** A register, or a vector of them. */
        REGISTER,
        /** A variable or parameter. */
        VARIABLE,
        /** A label, prototype or list of targets. */
        LABEL
    }

    private static final int NO_LANES = 0;

    private final Kind kind;
    private final String name;
    private final ScalarType type;
    private final Operand.Register[] lanes;

    private Declared(Kind kind, String name, ScalarType type, int lanes) {
        this.kind = kind;
        this.name = name;
        this.type = type;
        this.lanes = new Operand.Register[lanes];
    }

    /** A register of a function's body; a vector has several lanes. */
    static Declared register(ScalarType type, int lanes) {
        return new Declared(Kind.REGISTER, "", type, lanes);
    }

    /** A register that has its name already. */
    static Declared register(ScalarType type, List<Operand.Register> named) {
        Declared register = new Declared(Kind.REGISTER, "", type, named.size());
        named.toArray(register.lanes);
        return register;
    }

    /** A variable of that name in the tree. */
    static Declared variable(String name) {
        return new Declared(Kind.VARIABLE, name, null, NO_LANES);
    }

    /** A label of that name in the tree. */
    static Declared label(String name) {
        return new Declared(Kind.LABEL, name, null, NO_LANES);
    }

    Kind kind() {
        return kind;
    }

    /** Returns the name in the tree, for anything but a register. */
    String name() {
        return name;
    }

    /** Type of a register, or of each lane. */
    ScalarType type() {
        return type;
    }

    boolean isVector() {
        return lanes.length > 1;
    }

    int lanes() {
        return lanes.length;
    }

    /** Returns a lane of a register; a register that is not a vector has one. */
    Operand.Register lane(int number, RegisterRows rows) {
        if (lanes[number] == null) {
            lanes[number] = rows.next(type);
        }
        return lanes[number];
    }

    /** All lanes of a vector. */
    Operand.Vector vector(RegisterRows rows) {
        List<Operand> all = new ArrayList<>(lanes.length);
        for (int i = 0; i < lanes.length; i++) {
            all.add(lane(i, rows));
        }
        return new Operand.Vector(all);
    }
}
