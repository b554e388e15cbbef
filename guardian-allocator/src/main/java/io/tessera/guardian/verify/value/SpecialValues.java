package io.tessera.guardian.verify.value;

import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.PtxFunction;
import java.util.List;

/**
 * Values of special registers on every GPU, and in a kernel with {@code .reqntid} or {@code .maxntid}. The driver enforces these at every launch:
 * exactly the given threads in each dimension, or at most that many in all. A device function may be called from any kernel. A grid that counts
 * clusters ({@code .blocksareclusters}) has more blocks than its launch says: nothing is known of their number. Immutable.
 */
public final class SpecialValues {
    private static final int DIMENSIONS = 3;
    private static final long THREADS = 1024;
    private static final long THREADS_Z = 64;
    private static final long BLOCKS_X = Integer.MAX_VALUE;
    private static final long BLOCKS_YZ = 65535;
    private static final long ANY_BLOCKS = 0xFFFF_FFFFL;

    private final long[] least = {1, 1, 1};
    private final long[] most = {THREADS, THREADS, THREADS_Z};
    private final boolean ofClusters;

    /**
     * Creates the values of a function.
     *
     * @param ofClusters whether grids of its module may count clusters
     */
    public SpecialValues(PtxFunction function, boolean ofClusters) {
        this.ofClusters = ofClusters;
        List<FunctionAttribute> limits = function.kind() != PtxFunction.Kind.ENTRY ? List.of()
                : function.attributes().stream().filter(each -> each.name().equals("maxntid") || each.name().equals("reqntid")).toList();
        // If there are several counts, the assembler decides which one applies.
        if (limits.size() == 1 && limits.getFirst().numbers().size() <= DIMENSIONS && !limits.getFirst().numbers().isEmpty()
                && limits.getFirst().numbers().stream().allMatch(each -> each >= 1 && each <= THREADS)) {
            limit(limits.getFirst().numbers(), limits.getFirst().name().equals("reqntid"));
        }
    }

    private void limit(List<Long> numbers, boolean exact) {
        long all = numbers.stream().reduce(1L, (a, b) -> a * b);
        for (int i = 0; i < DIMENSIONS; i++) {
            long number = i < numbers.size() ? numbers.get(i) : 1;
            most[i] = Math.min(most[i], exact ? number : all);
            least[i] = exact ? most[i] : 1;
        }
    }

    /** Returns the value of that register. */
    public Value of(String register) {
        return switch (register) {
            case "%tid.x" -> range(0, most[0] - 1);
            case "%tid.y" -> range(0, most[1] - 1);
            case "%tid.z" -> range(0, most[2] - 1);
            case "%ntid.x" -> range(least[0], most[0]);
            case "%ntid.y" -> range(least[1], most[1]);
            case "%ntid.z" -> range(least[2], most[2]);
            case "%ctaid.x" -> range(0, blocks(BLOCKS_X) - 1);
            case "%nctaid.x" -> range(1, blocks(BLOCKS_X));
            case "%ctaid.y", "%ctaid.z" -> range(0, blocks(BLOCKS_YZ) - 1);
            case "%nctaid.y", "%nctaid.z" -> range(1, blocks(BLOCKS_YZ));
            case "%laneid" -> range(0, 31);
            case "%lanemask_eq", "%lanemask_le", "%lanemask_ge" -> Value.of(Value.Kind.LANES, 0, 0, 0);
            case "%dynamic_smem_size" -> range(0, 256 << 10);
            case "%globaltimer", "%clock64" -> Value.ANY;
            default -> register.endsWith("64") ? Value.ANY : Value.any(32);
        };
    }

    private long blocks(long most) {
        return ofClusters ? ANY_BLOCKS : most;
    }

    private static Value range(long low, long high) {
        return Value.number(low, high, 0, 32);
    }
}
