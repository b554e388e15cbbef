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

    /** No contiguous range of the window is free. */
    NO_ADDRESSES("no contiguous part of the window is free that is large enough"),

    /** The device has no physical memory left, or the tenant's kernels did not come to rest. */
    NO_MEMORY("no physical memory is available for it"),

    /** Nothing live is there: never allocated, freed before, or no address of this heap. */
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

    /** What the heap answers, below 0. */
    public long code() {
        return -1L - ordinal();
    }

    /** The reason in words, a clause without a full stop. */
    public String text() {
        return text;
    }

    /**
     * The reason behind an answer.
     *
     * @throws IllegalArgumentException if the answer is no refusal
     */
    public static HeapRefusal of(long answer) {
        if (answer >= 0 || answer < -ALL.length) {
            throw new IllegalArgumentException("no refusal: " + answer);
        }
        return ALL[(int) (-1 - answer)];
    }
}
