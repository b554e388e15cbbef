package io.tessera.guardian.heap;

/**
 * Why a heap did not do what it was asked. The heap answers with {@link #code}, a negative number where otherwise an
 * offset or a size would be, so that an answer costs no object. Thread-safe.
 */
public enum HeapRefusal {
    /** The size is not above 0, or the alignment no power of two. */
    INVALID_REQUEST("the size is not above 0, or the alignment is no power of two or more than the range"),

    /** The tenant's quota does not allow it. */
    OVER_QUOTA("the tenant's quota does not allow it"),

    /** No free contiguous range of the window is large enough. */
    NO_ADDRESSES("no contiguous part of the window is free that is large enough"),

    /** The device has no physical memory left, or the tenant's kernels did not stop in time. */
    NO_MEMORY("no physical memory is available for it"),

    /** No live allocation begins there: it was never made or is already freed, or the address is not in this heap. */
    NOT_LIVE("nothing live begins there: never allocated, freed before, or another's"),

    /** The address is inside a live allocation, not its start. */
    INSIDE("the address lies inside a live allocation and is not its start"),

    /** An allocation was given where a reservation belongs, or the reverse. */
    WRONG_KIND("an allocation was named where a reservation belongs, or the reverse");

    private static final HeapRefusal[] ALL = values();

    private final String text;

    HeapRefusal(String text) {
        this.text = text;
    }

    /** Returns this refusal as a heap answer, which is below 0. */
    public long code() {
        return -1L - ordinal();
    }

    /** The reason in words, a clause without a full stop. */
    public String text() {
        return text;
    }

    /**
     * Returns the refusal that an answer of the heap stands for.
     *
     * @throws IllegalArgumentException if the answer is not a refusal
     */
    public static HeapRefusal of(long answer) {
        if (answer >= 0 || answer < -ALL.length) {
            throw new IllegalArgumentException("no refusal: " + answer);
        }
        return ALL[(int) (-1 - answer)];
    }
}
