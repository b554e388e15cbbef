package io.tessera.guardian.verify.instruction;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.graph.Graph;
import io.tessera.guardian.verify.instruction.Accesses.Touch;
import io.tessera.guardian.verify.value.Clusters;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Value;
import java.util.List;

/**
 * Bulk copies out of shared memory, bulk reductions and prefetches. Their length has 32 bits: in global memory, such a range ends within the guard
 * band; in shared memory, it must end within the block's memory. Used for one function.
 */
final class Bulks {
    private static final int UNIT = 16;
    private static final long LONGEST = 1L << 32;

    private final Graph graph;
    private final Accesses accesses;

    Bulks(Graph graph, Accesses accesses) {
        this.graph = graph;
        this.accesses = accesses;
    }

    private static UnverifiedException refused(Instruction i, String why) {
        return new UnverifiedException(i.line(), i.mnemonic() + ": " + why);
    }

    void check(Instruction i, int at, int block) throws UnverifiedException {
        List<String> words = i.modifiers();
        boolean prefetch = i.has("prefetch");
        boolean out = !prefetch && i.has("bulk_group") && words.indexOf("global") >= 0 && words.indexOf("global") + 1 == words.indexOf("shared::cta");
        int length = prefetch ? 1 : 2;
        boolean known = (prefetch ? i.has("global") && !i.has("shared::cta") && !i.has("reduce") : out) && i.has("async")
                && i.operands().size() == length + (i.has("L2::cache_hint") ? 2 : 1) && graph.operands[at][length].length == 1;
        if (!known) {
            throw refused(i, "is a form of it that is not known here");
        }
        accesses.check(new Touch(at, block, StateSpace.GLOBAL, LONGEST, UNIT, !prefetch), 0);
        Node bytes = graph.operands[at][length][0].origin();
        if (prefetch) {
            if (!isUnits(bytes)) {
                throw refused(i, "its length is not shown to be whole units");
            }
            return;
        }
        accesses.check(new Touch(at, block, StateSpace.SHARED, UNIT, UNIT, false), 1);
        if (((Operand.Address) i.operands().get(1)).offsetBytes() != 0 || !isRest(bytes, graph.operands[at][1][0].origin())) {
            throw refused(i, "its length is not shown to end with the block's shared memory");
        }
    }

    private static boolean isUnits(Node node) {
        return node.value.align() >= Value.tz(UNIT) && (node.bits == Integer.SIZE || node.kind == Node.Kind.NUMBER);
    }

    /** {@code min(units, (end - start) & -16)}. */
    private static boolean isRest(Node bytes, Node start) {
        if (!bytes.is("min", "u32") || !isUnits(bytes.args[0].origin())) {
            return false;
        }
        Node units = bytes.args[1].origin();
        Node left = units.is("and", "b32") && (int) units.numberOf(1, 0) == -UNIT ? units.args[0].origin() : null;
        return left != null && left.is("sub", "u32") && Clusters.isEnd(left.args[0]) && left.args[1].origin() == start;
    }
}
