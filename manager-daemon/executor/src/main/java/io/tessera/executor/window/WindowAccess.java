package io.tessera.executor.window;

import io.tessera.executor.wait.BoundedWait;
import java.util.function.IntSupplier;

/**
 * One client's access to the window of its tenant. All methods belong to the client's owner thread; the window itself is shared with the tenant's other clients
 * and thread-safe.
 */
public interface WindowAccess {
    /** Returns the window's first address, a multiple of its size. */
    long baseAddress();

    /** Returns the bytes of the window: a power of two, at least 4 GiB. */
    long sizeBytes();

    /** Returns the bytes on either side of the window that are reserved for the tenant's sink. */
    long guardBytes();

    /** Returns whether this many bytes from an address lie in the window, allocated or not. */
    boolean contains(long address, long bytes);

    /** Returns whether an address lies where another tenant of the device has or had memory. Never waits. */
    boolean isAnothers(long address);

    /**
     * Returns whether all addresses that programs of the tenant were ever given lie in the first 4 GiB of the window. Once an address beyond is given, this is
     * false for ever; kernels that reach only the first 4 GiB have ended before.
     */
    default boolean isNarrow() {
        return false;
    }

    /** Records that a kernel that reaches only the first 4 GiB is about to be launched. Returns whether it may be: {@link #isNarrow}. */
    default boolean launchesNarrow() {
        return false;
    }

    /**
     * Takes device memory from the window. It is zero where no client of the tenant had it before. No limit is charged: the caller does that where necessary.
     *
     * @param bytes     above 0
     * @param alignment a power of two, at least 1; 512 is used at least
     * @return the address; 0: the device or the window has no room, or the tenant's work did not pause in time
     */
    long allocate(long bytes, long alignment);

    /**
     * Gives memory back that {@link #allocate} gave. The caller has made sure that no work of the tenant uses it.
     *
     * @throws IllegalArgumentException if no allocation begins there
     */
    void free(long address);

    /**
     * Maps the tenant's sink at every address of window and guards where nothing else is mapped. Must be called before the
     * first fenced kernel of the tenant is launched. From then on pages change only while no kernel of the tenant runs.
     * Does nothing if it was done already.
     *
     * @return CUresult; OUT_OF_MEMORY: no memory for the sink, and no fenced kernel may run
     */
    int backEverywhere();

    /** Returns whether {@link #backEverywhere} has been done. */
    boolean isBacked();

    /**
     * Runs an action while no kernel of the tenant runs: no client of the tenant submits, and all submitted work is done. Other tenants continue. The wait is
     * bounded by 10 s.
     *
     * @param change returns a CUresult; must not wait for another client of the tenant
     * @return its result; OUT_OF_MEMORY if the tenant's work did not end in time, and nothing was run
     */
    int whenQuiet(IntSupplier change);

    /** Writes of kernels to addresses of the tenant where no program has memory. */
    enum StrayWrites {
        /** No new writes. */
        NONE,
        /** Kernels of this client wrote there. */
        OWN,
        /** Kernels of this client or of another one of the tenant wrote there. */
        OF_THE_TENANT
    }

    /**
     * Begins to check whether kernels wrote where no program has memory; {@link #strayWrites} has the result when the stream reaches the work that follows.
     *
     * @param errorAddress device address of a word that becomes ILLEGAL_ADDRESS before that, if only this client can have written
     * @return false: there is no such check
     */
    default boolean checkStrayWrites(long stream, long errorAddress) {
        return false;
    }

    /** As {@link #checkStrayWrites}, but concurrently with all streams of the client. */
    default boolean checkStrayWritesBeside(long errorAddress) {
        return false;
    }

    /** Makes a check for kernels that have ended, and waits for it for a bounded time. Returns whether {@link #strayWrites} has the result. */
    default boolean checkStrayWritesNow() {
        return false;
    }

    /**
     * Records that the client is about to launch its first kernel, or the first after {@link #launchesNoMore}. Waits for clients of the tenant that have left,
     * for a bounded time.
     */
    default void launches() {
        // a window whose sink is not checked
    }

    /**
     * Records that no kernel of the client runs any more, so that later writes are another client's until this one {@link #launches} again.
     *
     * @param checked whether {@link #checkStrayWritesNow} has since found the writes of this client
     */
    default void launchesNoMore(boolean checked) {
        // a window whose sink is not checked
    }

    /** Returns the results of checks that this client was not told yet. */
    default StrayWrites strayWrites() {
        return StrayWrites.NONE;
    }

    /** Sets another wait of the thread that bounds the waits of this object from now on; null: none. */
    default void waitsWithin(BoundedWait outer) {
        // a window that waits for nothing
    }
}
