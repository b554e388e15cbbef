package io.tessera.executor.fence.hang;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;

/**
 * How a client is fenced, as the manager has decided. Immutable.
 *
 * @param fence          the fence
 * @param unfenced       what happens to kernels that cannot be fenced
 * @param fenceAlone     whether kernels are fenced also while nobody else is there
 * @param timeoutS       seconds after which a kernel counts as endless while the tenant is alone; 0: never
 * @param sharedTimeoutS the same while others are there
 */
public record FenceSettings(FenceChoice fence, UnfencedPolicy unfenced, boolean fenceAlone, int timeoutS,
        int sharedTimeoutS) {
    /**
     * Whether this executor fences nobody: the control run of the attack suite, in which attacks must succeed. Only the user who starts the
     * manager can say so, in its environment; no tenant can.
     */
    public static final boolean UNPROTECTED = "1".equals(System.getenv("TESSERA_EXECUTOR_UNPROTECTED"));

    /** Whether images without PTX run as they are, for comparisons of speed. Set like {@link #UNPROTECTED}. */
    public static final boolean MACHINE_CODE_AS_IT_IS = "1".equals(System.getenv("TESSERA_EXECUTOR_MACHINE_CODE_AS_IT_IS"));

    /** For a client of which nothing is said: the safest. */
    public static FenceSettings safest() {
        return new FenceSettings(FenceChoice.MASK, UnfencedPolicy.REFUSE, true, 0, 0);
    }

    /** Returns whether kernels are fenced also while nobody else is there; a user who wants to be told of violations always has them fenced. */
    public boolean alwaysFenced() {
        return fenceAlone || fence == FenceChoice.CHECK;
    }

    /** The fence's name for users. */
    public String label() {
        return UNPROTECTED ? "none" : fence.label();
    }

    /** The rewriter's name for the fence. */
    public FenceMode mode() {
        return UNPROTECTED ? FenceMode.NONE : switch (fence) {
            case MASK -> FenceMode.MASK;
            case MODULO -> FenceMode.MODULO;
            case CHECK -> FenceMode.CHECK;
        };
    }
}
