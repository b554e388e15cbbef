package io.tessera.guardian.verify.value;

import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.verify.Reserved;

/** Reads of the words about the window, and what the fences make of them, as they are written. Stateless. */
public final class WindowForms {
    private WindowForms() {
    }

    private static int word(Node node) {
        Node origin = node.origin();
        boolean load = origin.is("ld") && origin.instruction.has("const") && origin.instruction.operands().size() == 2;
        return load && origin.instruction.operands().get(1) instanceof Operand.Address(Operand.Named(String name), long offset)
                && name.equals(Reserved.WINDOW) && offset >= 0 && offset < Reserved.WINDOW_BYTES ? (int) offset : -1;
    }

    private static boolean isPair(Node node) {
        int word = word(node);
        return (word == Reserved.HIGH_WORDS || word == Reserved.COMMON_WORDS) && node.origin().instruction.mnemonic().equals("ld.const.v2.u32");
    }

    /** The high word of the window's base. */
    static boolean isBase(Node node) {
        return isPair(node) && node.origin().index == 0;
    }

    /** The mask of the high word, or the size in units of 4 GiB. */
    static boolean isExtent(Node node) {
        return isPair(node) && node.origin().index == 1;
    }

    /** The size's reciprocal. */
    static boolean isReciprocal(Node node) {
        return word(node) == Reserved.RECIPROCAL && node.origin().instruction.mnemonic().equals("ld.const.u32");
    }

    /** The pointer at one of the words of 8 bytes. */
    public static boolean isPointer(Node node, int offset) {
        return word(node) == offset && node.origin().instruction.mnemonic().equals("ld.const.u64");
    }

    /** A load of 64 bits from constant memory. */
    static boolean isWide(Node node) {
        return node.instruction.mnemonic().equals("ld.const.u64");
    }

    /** The address of which a word is the low (0) or high (1) half, or null. */
    static Node half(Node word, int which) {
        Node origin = word.origin();
        boolean unpacks = origin.is("mov", "b64") && origin.index == which && origin.bits == 32
                && origin.instruction.operands().getFirst() instanceof Operand.Vector(var elements) && elements.size() == 2;
        return unpacks ? origin.args[0] : null;
    }

    /**
     * Returns whether a word is {@code (high - base) mod size}, by the reciprocal {@code floor((2^32 - 1) / size)}: the quotient is at most one too
     * small, so the remainder is below two sizes.
     */
    static boolean isModulo(Node word) {
        Node selected = word.origin();
        if (!selected.is("selp", "b32") || selected.args.length != 3) {
            return false;
        }
        Node reduced = selected.args[0].origin();
        Node rest = selected.args[1].origin();
        Node again = selected.args[2].origin();
        boolean chosen = again.is("setp", "ge") && again.index == 0 && again.instruction.mnemonic().equals("setp.ge.u32")
                && again.args[0].origin() == rest && isExtent(again.args[1]);
        boolean less = reduced.is("sub", "u32") && reduced.args[0].origin() == rest && isExtent(reduced.args[1]);
        if (!chosen || !less || !rest.is("sub", "u32")) {
            return false;
        }
        Node offset = rest.args[0].origin();
        Node product = rest.args[1].origin();
        if (!product.is("mul") || !product.instruction.mnemonic().equals("mul.lo.u32") || !isExtent(product.args[1])) {
            return false;
        }
        Node quotient = product.args[0].origin();
        return quotient.is("mul") && quotient.instruction.mnemonic().equals("mul.hi.u32") && quotient.args[0].origin() == offset
                && isReciprocal(quotient.args[1]);
    }
}
