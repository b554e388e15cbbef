package io.tessera.guardian.verify.instruction;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.graph.Graph;
import io.tessera.guardian.verify.instruction.Accesses.Touch;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Value;

/** Loads and stores of matrices by a warp: rows at a distance that a register says. Used for one function. */
final class Matrices {
    /** Alignment that the widest access to a row needs, as in the rewriter's {@code MatrixTable}. */
    private static final int ALIGNMENT = 16;
    private static final int UNIT_BITS = 128;
    /** 32 rows of 8 bytes at this distance, in elements, stay within what {@code Reserved.REACH} leaves of a guard band. */
    private static final long MOST_STRIDE = 1 << 25;

    private final Graph graph;
    private final Accesses accesses;

    Matrices(Graph graph, Accesses accesses) {
        this.graph = graph;
        this.accesses = accesses;
    }

    private static UnverifiedException refused(Instruction i, String why) {
        return new UnverifiedException(i.line(), i.mnemonic() + ": " + why);
    }

    void check(Instruction i, int at, int block) throws UnverifiedException {
        int[] shape = shape(i);
        ScalarType type = i.type().orElse(null);
        boolean load = i.has("load");
        if (shape == null || type == null || load == i.has("store") || i.modifiers().size() < 2) {
            throw refused(i, "is a form of it that is not known here");
        }
        String fragment = i.modifiers().get(1);
        int down = fragment.equals("b") ? shape[2] : shape[0];
        int across = fragment.equals("a") ? shape[2] : shape[1];
        boolean byRow = i.has("row");
        if (byRow == i.has("col") || !fragment.equals(load ? fragment : "d") || "abcd".indexOf(fragment) < 0) {
            throw refused(i, "is a form of it that is not known here");
        }
        long rows = byRow ? down : across;
        long rowBytes = (long) (byRow ? across : down) * type.bits() / Byte.SIZE;
        int address = load ? 1 : 0;
        StateSpace space = i.space().orElse(null);
        boolean strided = i.operands().size() > 2;
        long bytes = strided ? rowBytes : rows * rowBytes;
        accesses.check(new Touch(at, block, space, bytes, ALIGNMENT, !load), address);
        if (!strided) {
            return;
        }
        Node stride = graph.operands[at][2].length == 1 ? graph.operands[at][2][0] : null;
        Value distance = stride == null ? Value.ANY : stride.value.unsigned(Integer.SIZE);
        int unit = Value.tz(Math.max(1, UNIT_BITS / type.bits()));
        if (distance.low() < 0 || distance.high() >= MOST_STRIDE || distance.align() < unit && !isMost(stride, null, rows, rowBytes, type.bits())) {
            throw refused(i, "its rows are not shown to be near");
        }
        Node base = graph.operands[at][address][0];
        long offset = ((Operand.Address) i.operands().get(address)).offsetBytes();
        boolean near = (space == StateSpace.GLOBAL || space == null) && base.value.is(Value.Kind.WINDOW)
                && base.value.low() + offset > -Reserved.REACH
                && base.value.high() + offset + rowBytes < Reserved.REACH;
        boolean least = space == StateSpace.SHARED && offset == 0
                && isMost(stride, base, rows, rowBytes, type.bits());
        if (!near && !least) {
            throw refused(i, "its rows are not shown to be in bounds");
        }
    }

    /**
     * Returns whether a distance is at most {@code ((end - address - row) / (rows - 1) & -16) * 8 / bits}, and a multiple of 16 bytes.
     *
     * @param base address of the first row; null for any
     */
    private static boolean isMost(Node stride, Node base, long rows, long rowBytes, int bits) {
        Node least = stride == null ? null : stride.origin();
        if (least == null || !least.is("min", "u32")) {
            return false;
        }
        Node most = least.args[1].origin();
        if (!most.is("div", "u32") || most.numberOf(1, 0) != bits || !most.args[0].origin().is("shl", "b32")) {
            return false;
        }
        Node shifted = most.args[0].origin();
        Node whole = shifted.args[0].origin();
        if (shifted.numberOf(1, 0) != 3 || !whole.is("and", "b32") || (int) whole.numberOf(1, 0) != -16 || !whole.args[0].origin().is("div", "u32")) {
            return false;
        }
        Node part = whole.args[0].origin();
        Node left = part.args[0].origin();
        if (part.numberOf(1, 0) != Math.max(1, rows - 1) || !left.is("sub", "u32") || left.numberOf(1, 0) != rowBytes) {
            return false;
        }
        Node room = left.args[0].origin();
        boolean fromEnd = room.is("sub", "u32") && room.args[0].value.is(Value.Kind.VARIABLE) && room.args[0].value.symbol() == Symbol.END
                && room.args[0].value.low() == 0 && room.args[0].value.high() == 0;
        boolean aligned = least.args[0].value.align() >= Value.tz(Math.max(1, UNIT_BITS / bits));
        return fromEnd && aligned && (base == null || room.args[1].origin() == base.origin());
    }

    private static int[] shape(Instruction i) {
        for (String word : i.modifiers()) {
            int n = word.indexOf('n');
            int k = word.indexOf('k');
            if (word.startsWith("m") && n > 1 && k > n + 1 && k < word.length() - 1 && word.length() <= 12) {
                try {
                    return new int[] {Integer.parseInt(word, 1, n, 10), Integer.parseInt(word, n + 1, k, 10),
                            Integer.parseInt(word, k + 1, word.length(), 10)};
                } catch (NumberFormatException e) {
                    return null;
                }
            }
        }
        return null;
    }
}
