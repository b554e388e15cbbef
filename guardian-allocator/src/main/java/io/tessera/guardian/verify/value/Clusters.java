package io.tessera.guardian.verify.value;

import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.value.Value.Kind;

/**
 * Addresses of shared memory if blocks are launched in clusters. The top bits of a shared address are then the number of a block, so an address that
 * is not above the end of the block's own memory may still be in another block. It must therefore also be at least the block's own lowest address.
 * All blocks of a cluster have the same amount of shared memory. Stateless.
 */
public final class Clusters {
    /** Bits of a shared address that say which block. */
    private static final int NUMBER = 0xFF00_0000;
    private static final int DYNAMIC_ALIGN = 4;

    private Clusters() {
    }

    /** Returns whether a word is the lowest address of the block itself: that of its dynamic memory without the bits below the block's number. */
    static boolean isBase(Node node) {
        Node base = node.origin();
        return base.is("and", "b32") && isDynamic(base.args[0]) && (int) base.numberOf(1, 0) == NUMBER;
    }

    private static boolean isDynamic(Node node) {
        Value value = node.value;
        return value.is(Kind.VARIABLE) && value.symbol().name().equals(Reserved.DYNAMIC) && value.low() == 0 && value.high() == 0;
    }

    /** Returns whether a word is the end of the block's shared memory. */
    public static boolean isEnd(Node node) {
        Value value = node.value;
        return value.is(Kind.VARIABLE) && value.symbol() == Symbol.END && value.low() == 0 && value.high() == 0;
    }

    /** Returns whether a word is the size of a block's shared memory. */
    public static boolean isSize(Node node) {
        Node size = node.origin();
        return size.is("sub", "u32") && isEnd(size.args[0]) && isBase(size.args[1]);
    }

    /** The greater of what is not above an end and of the lowest address: then it is in the own block. Null where it is not that. */
    public static Value raised(Node node) {
        if (!node.is("max", "u32")) {
            return null;
        }
        Value cut = isBase(node.args[1]) ? node.args[0].value : isBase(node.args[0]) ? node.args[1].value : null;
        return cut != null && (cut.is(Kind.CUT) || cut.is(Kind.BELOW)) ? cut.as(Kind.BELOW) : null;
    }

    /**
     * An address in any block of the cluster, as the fences make it: cut off at the own block's end where it is in the own block, else the same place as
     * one in the own block, in the block whose number it has, of those that there are. Null where it is not that.
     */
    public static Value chosen(Node node) {
        if (!node.is("selp", "b32") || node.args.length != 3 || !isOwn(node.args[2])) {
            return null;
        }
        Node near = node.args[0].origin();
        Node own = floored(near);
        Node far = node.args[1].origin();
        Node address = compared(node.args[2]);
        boolean cut = own.is("min", "u32") && own.args[0].origin() == address && own.value.is(Kind.CUT) && own.value.symbol() == Symbol.END;
        if (!cut || !far.is("add", "u32") || !isBlock(far.args[1].origin())) {
            return null;
        }
        Node offset = far.args[0].origin();
        Node place = offset.is("sub", "u32") && isDynamic(offset.args[1]) ? offset.args[0].origin() : null;
        Node raised = place == null ? null : floored(place);
        if (raised == null || !raised.is("max") || !raised.value.is(Kind.BELOW) || raised.value.symbol() != Symbol.END) {
            return null;
        }
        long bytes = -Math.max(own.value.high(), raised.value.high());
        int align = Math.min(DYNAMIC_ALIGN, Math.min(near.value.align(), place.value.align()));
        return bytes <= 0 ? null : Value.of(Kind.CLUSTER, 0, bytes, align).with(0, Math.max(own.value.needs(), raised.value.needs()));
    }

    /** Returns the value before its low bits were cleared: clearing keeps it below an end, and not below a lowest address whose low bits are zero. */
    private static Node floored(Node node) {
        return node.is("and", "b32") && node.args[1].kind == Node.Kind.NUMBER && node.args[1].number < 0 && node.args[1].number >= -(1 << 10)
                && Long.bitCount(-node.args[1].number) == 1 ? node.args[0].origin() : node;
    }

    /** {@code address < end} and {@code address >= lowest}. */
    private static boolean isOwn(Node predicate) {
        Node both = predicate.origin();
        if (!both.is("and", "pred") || both.args[0].kind == Node.Kind.NOT || both.args[1].kind == Node.Kind.NOT) {
            return false;
        }
        Node under = both.args[0].origin();
        Node above = both.args[1].origin();
        return isCompare(under, "setp.lt.u32") && isEnd(under.args[1]) && isCompare(above, "setp.ge.u32") && isBase(above.args[1])
                && under.args[0].origin() == above.args[0].origin();
    }

    private static boolean isCompare(Node node, String mnemonic) {
        return node.is("setp") && node.index == 0 && node.instruction.mnemonic().equals(mnemonic);
    }

    private static Node compared(Node predicate) {
        return predicate.origin().args[0].origin().args[0].origin();
    }

    /** Returns whether it is the address of the dynamic memory of a block of the cluster, whose number is below the number of blocks. */
    private static boolean isBlock(Node node) {
        if (!node.is("mapa") || !node.instruction.mnemonic().equals("mapa.shared::cluster.u32") || !isDynamic(node.args[0])) {
            return false;
        }
        Node rank = node.args[1].origin();
        Node last = rank.is("min", "u32") ? rank.args[1].origin() : null;
        if (last == null || !last.is("sub", "u32") || last.numberOf(1, 0) != 1) {
            return false;
        }
        Node count = last.args[0].origin();
        return count.is("mov", "u32") && count.args[0].kind == Node.Kind.SPECIAL && count.args[0].special.equals("%cluster_nctarank");
    }
}
