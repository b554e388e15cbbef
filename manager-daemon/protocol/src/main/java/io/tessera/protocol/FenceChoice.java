package io.tessera.protocol;

import java.util.Locale;
import java.util.Optional;

/** Ways to keep the memory accesses of a tenant's kernels in its window ({@code TESSERA_FENCE_*}). */
public enum FenceChoice {
    /** An address is forced into the window: one instruction an access. */
    MASK(1),
    /** The same, for windows of any size. */
    MODULO(2),
    /** An access outside is dropped and reported. */
    CHECK(3);

    private final int code;

    FenceChoice(int code) {
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

    /** Returns the choice with a number; absent if none has it. */
    public static Optional<FenceChoice> ofCode(int code) {
        return code < 1 || code > values().length ? Optional.empty() : Optional.of(values()[code - 1]);
    }

    /** Returns the choice with a name as users write it; absent if none has it. */
    public static Optional<FenceChoice> ofLabel(String label) {
        for (FenceChoice choice : values()) {
            if (choice.label().equals(label)) {
                return Optional.of(choice);
            }
        }
        return Optional.empty();
    }
}
