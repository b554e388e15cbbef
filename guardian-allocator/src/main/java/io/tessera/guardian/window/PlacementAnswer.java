package io.tessera.guardian.window;

/** Result of {@link WindowSpace#allocate}. */
public sealed interface PlacementAnswer {
    /**
     * The window has a place.
     *
     * @param place its own until {@link WindowSpace#free}
     */
    record Placed(WindowPlace place) implements PlacementAnswer {
    }

    /**
     * No place of that size, with its guards, is left.
     *
     * @param sizeBytes        the requested size
     * @param largestFreeBytes the largest window that would still fit, 0 if none does
     */
    record Exhausted(long sizeBytes, long largestFreeBytes) implements PlacementAnswer {
    }
}
