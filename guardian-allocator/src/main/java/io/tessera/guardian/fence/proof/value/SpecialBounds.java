package io.tessera.guardian.fence.proof.value;

import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import java.util.List;

/**
 * Bounds of the special registers: what the hardware allows (CUDA Programming Guide, "Technical Specifications per Compute
 * Capability": equal from 3.0 to 12.1), and {@code .reqntid} and {@code .maxntid}, which the driver holds every launch to. A grid that
 * counts clusters ({@code .blocksareclusters}) has more blocks than a launch can say: of these nothing is known. Immutable.
 */
public final class SpecialBounds {
    private static final long THREADS = 1024;
    private static final long THREADS_Z = 64;
    private static final long BLOCKS_X = Integer.MAX_VALUE;
    private static final long BLOCKS_YZ = 65535;
    private static final long ANY_BLOCKS = 0xFFFF_FFFFL;

    private final long[] leastThreads = {1, 1, 1};
    private final long[] mostThreads = {THREADS, THREADS, THREADS_Z};

    private final boolean ofClusters;

    private SpecialBounds(boolean ofClusters) {
        this.ofClusters = ofClusters;
    }

    /**
     * Returns the bounds that hold in a function. A device function can be called from kernels of any shape.
     *
     * @param ofClusters whether its grids may count clusters
     */
    public static SpecialBounds of(PtxFunction function, boolean ofClusters) {
        SpecialBounds bounds = new SpecialBounds(ofClusters);
        if (function.kind() == PtxFunction.Kind.ENTRY) {
            function.attribute("maxntid").ifPresent(bounds::mostThreads);
            function.attribute("reqntid").ifPresent(bounds::exactThreads);
        }
        return bounds;
    }

    /** The driver limits the number of threads of a block, not each of its dimensions. */
    private void mostThreads(FunctionAttribute attribute) {
        long product = 1;
        for (long each : attribute.numbers()) {
            product = each < 1 || each > THREADS ? THREADS : Math.min(THREADS, product * each);
        }
        for (int i = 0; i < 3; i++) {
            mostThreads[i] = Math.min(mostThreads[i], product);
        }
    }

    private void exactThreads(FunctionAttribute attribute) {
        List<Long> numbers = attribute.numbers();
        for (int i = 0; i < 3 && !numbers.isEmpty(); i++) {
            long exact = i < numbers.size() ? numbers.get(i) : 1;
            if (exact >= 1 && exact <= mostThreads[i]) {
                leastThreads[i] = exact;
                mostThreads[i] = exact;
            }
        }
    }

    /** Returns the possible results of a 32-bit read of a special register. */
    public AbstractValue of(Operand.SpecialRegister register) {
        int dimension = register.component().isEmpty() ? -1 : "xyzw".indexOf(register.component().charAt(0));
        if (dimension == 3) {
            return AbstractValue.TOP;
        }
        long mostBlocks = ofClusters ? ANY_BLOCKS : dimension == 0 ? BLOCKS_X : BLOCKS_YZ;
        return switch (register.name()) {
            case "%tid" -> dimension < 0 ? AbstractValue.TOP : AbstractValue.between(0, mostThreads[dimension] - 1);
            case "%ntid" -> dimension < 0 ? AbstractValue.TOP
                    : AbstractValue.between(leastThreads[dimension], mostThreads[dimension]);
            case "%ctaid" -> dimension < 0 ? AbstractValue.TOP : AbstractValue.between(0, mostBlocks - 1);
            case "%nctaid" -> dimension < 0 ? AbstractValue.TOP : AbstractValue.between(1, mostBlocks);
            case "%laneid" -> AbstractValue.between(0, 31);
            default -> AbstractValue.TOP;
        };
    }
}
