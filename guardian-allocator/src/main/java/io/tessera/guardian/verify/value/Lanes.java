package io.tessera.guardian.verify.value;

/**
 * The mask of the lanes that a thread's warp began with: all ones, moved right by as many as the last warp of a block lacks. The own lane is among
 * them. Stateless.
 */
public final class Lanes {
    private static final long WARP = 32;

    private Lanes() {
    }

    static boolean isWarp(Node node) {
        Node mask = node.origin();
        if (!mask.is("shr", "u32") || mask.args.length != 2 || !isNumber(mask.args[0], -1)) {
            return false;
        }
        Node missing = mask.args[1].origin();
        if (!missing.is("sub", "u32") || !isNumber(missing.args[0], WARP)) {
            return false;
        }
        Node least = missing.args[1].origin();
        if (!least.is("min", "u32") || !isNumber(least.args[1], WARP)) {
            return false;
        }
        Node left = least.args[0].origin();
        return left.is("sub", "u32") && isThreads(left.args[0].origin()) && isBefore(left.args[1].origin());
    }

    /** Returns whether a word is one warp, or {@code min(threads of the block in whole warps, number of whole warps)}. */
    public static boolean isOfBlock(Node threads) {
        Node count = threads.origin();
        if (count.kind == Node.Kind.NUMBER) {
            return count.number == WARP;
        }
        Node block = count.is("min", "u32") ? count.args[0].origin() : null;
        long most = block == null ? 0 : count.numberOf(1, 0);
        Node sum = block != null && block.is("and", "b32") && (int) block.numberOf(1, 0) == -WARP ? block.args[0].origin() : null;
        return most > 0 && most % WARP == 0 && sum != null && sum.is("add", "u32") && sum.numberOf(1, 0) == WARP - 1
                && isThreads(sum.args[0].origin());
    }

    private static boolean isNumber(Node node, long number) {
        Node origin = node.origin();
        Node source = origin.is("mov") && origin.typed(Integer.SIZE) ? origin.args[0] : origin;
        return source.kind == Node.Kind.NUMBER && (int) source.number == (int) number;
    }

    private static boolean isSpecial(Node node, String name) {
        Node origin = node.origin();
        return origin.is("mov", "u32") && origin.args[0].kind == Node.Kind.SPECIAL && origin.args[0].special.equals(name);
    }

    /** Threads of the block. */
    private static boolean isThreads(Node node) {
        return isProduct(node, "%ntid.z") && isProduct(node.args[0].origin(), "%ntid.y") && isSpecial(node.args[0].origin().args[0], "%ntid.x");
    }

    private static boolean isProduct(Node node, String by) {
        return node.is("mul", "lo") && node.typed(Integer.SIZE) && isSpecial(node.args[1], by);
    }

    /** The thread's number, less its lane: x + width * (y + height * z), without the low five bits. */
    private static boolean isBefore(Node node) {
        if (!node.is("and", "b32") || node.numberOf(1, 0) != -WARP && node.numberOf(1, 0) != 0xFFFF_FFFFL - WARP + 1) {
            return false;
        }
        Node row = node.args[0].origin();
        if (!isSum(row, "%ntid.x", "%tid.x")) {
            return false;
        }
        Node plane = row.args[0].origin();
        return isSum(plane, "%ntid.y", "%tid.y") && isSpecial(plane.args[0], "%tid.z");
    }

    private static boolean isSum(Node node, String by, String and) {
        return node.is("mad", "lo") && node.typed(Integer.SIZE) && node.args.length == 3 && isSpecial(node.args[1], by)
                && isSpecial(node.args[2], and);
    }
}
