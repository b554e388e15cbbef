package io.tessera.guardian.heap;

/**
 * Puts physical memory behind parts of a window and takes it away. Offsets and sizes are in bytes, offsets from the start
 * of the heap's range, both always multiples of {@link HeapSettings#granuleBytes}. A range that is decommitted need not
 * be one that was committed in one call, so an implementation that can unmap only whole mappings maps granule by granule.
 * Called on the heap's owner thread only.
 */
public interface CommitPort {
    /**
     * The first of some changes that belong together follows: the place to bring a tenant's kernels to rest once for
     * all of them.
     *
     * @return false if memory cannot change now; then no change follows and {@link #endChange} is not called
     */
    default boolean beginChange() {
        return true;
    }

    /** All changes since {@link #beginChange} are made, or given up. */
    default void endChange() {
    }

    /**
     * Commits zeroed physical memory for a range that has none. Does not throw.
     *
     * @return false if no memory is available; then nothing has changed
     */
    boolean commit(long offset, long bytes);

    /**
     * Takes the physical memory of a committed range away. Nothing live lies in it.
     *
     * @throws RuntimeException if that cannot be done; the heap then takes the range for committed and passes it on
     */
    void decommit(long offset, long bytes);
}
