package io.tessera.executor.fence.hang;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;

/**
 * The manager's decision how a client is fenced. Immutable.
 *
 * @param fence          the fence
 * @param unfenced       treatment of kernels that cannot be fenced
 * @param fenceAlone     whether kernels are also fenced while no other tenant is there
 * @param timeoutS       seconds after which a kernel counts as endless while the tenant is alone; 0: never
 * @param sharedTimeoutS as above, while other tenants are there
 */
public record FenceSettings(FenceChoice fence, UnfencedPolicy unfenced, boolean fenceAlone, int timeoutS,
        int sharedTimeoutS) {
    /**
     * Whether this executor fences no client: the control run of the attack suite, in which attacks must succeed. Only the user who starts the manager can set
     * it, in the manager's environment; no tenant can.
     */
    public static final boolean UNPROTECTED = "1".equals(System.getenv("TESSERA_EXECUTOR_UNPROTECTED"));

    /** Whether images without PTX run as they are, for comparisons of speed. Set like {@link #UNPROTECTED}. */
    public static final boolean MACHINE_CODE_AS_IT_IS = "1".equals(System.getenv("TESSERA_EXECUTOR_MACHINE_CODE_AS_IT_IS"));

    /** Returns the safest settings, for a client without settings. */
    public static FenceSettings safest() {
        return new FenceSettings(FenceChoice.MASK, UnfencedPolicy.REFUSE, true, 0, 0);
    }

    /** Returns whether kernels are also fenced while no other tenant is there; always true for a user who wants reports of violations. */
    public boolean alwaysFenced() {
        return fenceAlone || fence == FenceChoice.CHECK;
    }

    /** Returns the fence's name for users. */
    public String label() {
        return UNPROTECTED ? "none" : fence.label();
    }

    /** Returns the rewriter's name for the fence. */
    public FenceMode mode() {
        return UNPROTECTED ? FenceMode.NONE : switch (fence) {
            case MASK -> FenceMode.MASK;
            case MODULO -> FenceMode.MODULO;
            case CHECK -> FenceMode.CHECK;
        };
    }
}
