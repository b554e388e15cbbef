package io.tessera.protocol;

import java.util.Optional;

/** Ways to make a client's device memory ({@code TESSERA_PLAN_*}). */
public enum MemoryPlan {
    /** As the program asks for it. */
    PLAIN,
    /** Converted to managed memory if that preserves the properties that the program asked for. */
    MANAGED,
    /** No memory of its own: its calls are relayed to the executor of the device (space sharing). */
    RELAY,
    /** At fixed addresses over physical memory that can be taken away and given back (SPEC.md, section 9). */
    SWAP;

    /** Returns the number on the wire. */
    public int code() {
        return ordinal();
    }

    /** Returns the plan with a number; absent if no plan has it. */
    public static Optional<MemoryPlan> ofCode(int code) {
        return code >= 0 && code < values().length ? Optional.of(values()[code]) : Optional.empty();
    }
}
