package io.tessera.protocol;

import java.util.Locale;
import java.util.Optional;

/**
 * What happens to kernels that cannot be fenced, because their image has no PTX for the device
 * ({@code TESSERA_UNFENCED_*}). In the order of what they allow.
 */
public enum UnfencedPolicy {
    /** The image is refused. */
    REFUSE(1),
    /** The program starts again in time sharing, before its first launch. */
    TIME(2),
    /** Images of a list run as they are, the pointers among their arguments checked; others are refused. */
    TRUSTED(3),
    /**
     * Every kernel runs as long as all tenants are one user's, without a fence with the pointers among its arguments checked; beside other users' those run that are fenced in
     * their machine code and seen to stay in their window, or are a vendor's by hash.
     */
    OWN(4);

    private final int code;

    UnfencedPolicy(int code) {
        this.code = code;
    }

    /** The number on the wire; 0 means that nothing was chosen. */
    public int code() {
        return code;
    }

    /** The name that users write. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether this allows no more than another. */
    public boolean within(UnfencedPolicy most) {
        return code <= most.code;
    }

    /** The policy of a number; absent if none has it. */
    public static Optional<UnfencedPolicy> ofCode(int code) {
        return code < 1 || code > values().length ? Optional.empty() : Optional.of(values()[code - 1]);
    }

    /** The policy of a name as users write it; absent if none has it. */
    public static Optional<UnfencedPolicy> ofLabel(String label) {
        for (UnfencedPolicy policy : values()) {
            if (policy.label().equals(label)) {
                return Optional.of(policy);
            }
        }
        return Optional.empty();
    }
}
