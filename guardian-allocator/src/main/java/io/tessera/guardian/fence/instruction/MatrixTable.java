package io.tessera.guardian.fence.instruction;

import io.tessera.guardian.fence.instruction.Access.Kind;
import io.tessera.guardian.fence.instruction.InstructionClass.Matrix;
import io.tessera.guardian.fence.instruction.InstructionClass.Refused;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.ScalarType;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code wmma.load} and {@code wmma.store}: what they touch (PTX ISA, "Matrix Fragments for WMMA"). Stateless. */
final class MatrixTable {
    private static final Pattern SHAPE = Pattern.compile("m(\\d+)n(\\d+)k(\\d+)");
    /**
     * Alignment that the widest access to a row needs: ptxas 13.0 emits no access of more than 16 bytes for sm_75 to sm_120. The ISA asks for 32
     * bytes, but programs with rows of 16 bytes do not comply.
     */
    private static final int ALIGNMENT = 16;

    private MatrixTable() {
    }

    static InstructionClass of(Instruction i) {
        ScalarType type = i.type().orElse(null);
        Matcher shape = null;
        for (String word : i.modifiers()) {
            Matcher matcher = SHAPE.matcher(word);
            shape = matcher.matches() ? matcher : shape;
        }
        int operand = Access.address(i, 0);
        boolean known = i.has("load") || i.has("store");
        if (type == null || shape == null || operand < 0 || !known || i.modifiers().size() < 2) {
            return new Refused("is a form of it that is not fenced");
        }
        int m = Integer.parseInt(shape.group(1));
        int n = Integer.parseInt(shape.group(2));
        int k = Integer.parseInt(shape.group(3));
        String fragment = i.modifiers().get(1);
        int down = fragment.equals("b") ? k : m;
        int across = fragment.equals("a") ? k : n;
        boolean byRow = i.has("row");
        int rows = byRow ? down : across;
        int rowBytes = (byRow ? across : down) * type.bits() / 8;
        Access access = new Access(operand, Access.place(i), i.has("load") ? Kind.READ : Kind.WRITE,
                rows * rowBytes, ALIGNMENT);
        int stride = i.operands().size() > 2 ? 2 : -1;
        return new Matrix(access, rows, rowBytes, type.bits(), stride);
    }
}
