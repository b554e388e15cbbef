package io.tessera.guardian.fence.proof;

/** Position of an address. Immutable. */
public sealed interface Placement {
    /** Lowest and highest offset that nothing is known about. */
    long UNBOUNDED_LOW = Long.MIN_VALUE;
    /** See {@link #UNBOUNDED_LOW}. */
    long UNBOUNDED_HIGH = Long.MAX_VALUE;

    /**
     * In or near a variable: its start plus an offset between two bounds, both included, on every path. The access that
     * starts there is in bounds if {@code lowOffset >= 0} and {@code highOffset + its size <= the variable's size}; the
     * rewriter compares.
     *
     * @param symbol     the variable: of the module, the function or a block (named as in the text)
     * @param lowOffset  or {@link #UNBOUNDED_LOW}
     * @param highOffset or {@link #UNBOUNDED_HIGH}
     */
    record NearSymbol(String symbol, long lowOffset, long highOffset) implements Placement {
    }

    /** Global, and inside the window plus less than a guard band if the base register's shadow is used. */
    record FencedBase() implements Placement {
    }

    /**
     * Global, and anywhere, but aligned as {@link AddressFact#alignmentBytes()} says if the base register's shadow is used: that is
     * fenced where the access is. A pointer that goes round a loop by steps of unknown size is so, that the fence is not in the chain
     * of additions on which every round waits.
     */
    record FloatingBase() implements Placement {
    }

    /** Anywhere. */
    record Unknown() implements Placement {
    }
}
