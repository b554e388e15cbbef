package io.tessera.protocol;

import java.util.Locale;
import java.util.Optional;

/**
 * Treatments of kernels that cannot be fenced, because their image has no PTX for the device ({@code TESSERA_UNFENCED_*}), from the strictest to the
 * most permissive.
 */
public enum UnfencedPolicy {
    /** The image is refused. */
    REFUSE(1),
    /** The program starts again in time sharing, before its first launch. */
    TIME(2),
    /** Images on a list run as they are, with the pointers among their arguments checked; others are refused. */
    TRUSTED(3),
    /**
     * Every kernel runs as long as all tenants belong to one user: without a fence, with the pointers among its arguments checked. Beside other
     * users' tenants, a kernel runs if it is fenced in its machine code and shown to stay in its window, or if its hash is one of a vendor's.
     */
    OWN(4);

    private final int code;

    UnfencedPolicy(int code) {
        this.code = code;
    }

    /** Returns the number on the wire; 0 means that nothing was chosen. */
    public int code() {
        return code;
    }

    /** Returns the name that users write. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns whether this allows no more than another. */
    public boolean within(UnfencedPolicy most) {
        return code <= most.code;
    }

    /** Returns the policy with a number; absent if none has it. */
    public static Optional<UnfencedPolicy> ofCode(int code) {
        return code < 1 || code > values().length ? Optional.empty() : Optional.of(values()[code - 1]);
    }

    /** Returns the policy with a name as users write it; absent if none has it. */
    public static Optional<UnfencedPolicy> ofLabel(String label) {
        for (UnfencedPolicy policy : values()) {
            if (policy.label().equals(label)) {
                return Optional.of(policy);
            }
        }
        return Optional.empty();
    }
}
