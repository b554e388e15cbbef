package io.tessera.device;

import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;

/**
 * A CUDA driver, real or software.
 *
 * <p>Threads: any thread may call; the current context is the calling thread's, as with the driver itself. Ownership:
 * memory behind pointers is the caller's and has to live as long as the driver needs it, mostly for the call.
 */
public interface DriverPort extends AutoCloseable {
    /**
     * Type of a location, in {@code CUmemAllocationProp}, by which a driver with {@link #hasSinks} makes a sink. No program
     * can name it: what clients say about locations is checked.
     */
    int SINK_LOCATION = 0x53494e4b;

    /** Returns a description for messages and status: {@code "NVIDIA driver 13.0 at /usr/lib/..."}. */
    String name();

    /** Returns whether kernels run on the CPU. */
    boolean software();

    /** Returns whether memory that cuMemCreate makes is zero, so that it need not be cleared of other clients' data. */
    default boolean makesZeroedMemory() {
        return false;
    }

    /**
     * Returns whether cuMemCreate makes sinks ({@link #SINK_LOCATION}): a piece of memory of the least size that repeats behind all of
     * a mapping of any size, is not counted against the device's memory, and costs the host no mapping. Copies that are made
     * without a kernel do not reach it: what they write there is lost with the next change of a mapping.
     */
    default boolean hasSinks() {
        return false;
    }

    /** Returns whether {@link #call} of this entry reaches a driver. */
    boolean supports(DriverEntry entry);

    /**
     * Calls an entry.
     *
     * @param entry the entry
     * @param slots native memory, 8-aligned: one 64-bit slot for each parameter in order, at least as many as {@link EntryDescription#parameters} has. Numbers
     * as the ABI widens them (a float as its bits in the low half), pointers as native addresses; for a structure by value the address of its bytes. Only read
     * @return the {@code CUresult}; {@link CudaResult#NOT_SUPPORTED} where the driver lacks the entry
     */
    int call(DriverEntry entry, MemorySegment slots);

    /**
     * Returns why code cannot be used. To be called right after a {@link #call} of the same thread that returned {@code CUDA_ERROR_INVALID_PTX}.
     *
     * @return one sentence, which names the kernel and its error; empty where the driver gives no reason
     */
    default String whyInvalid() {
        return "";
    }

    /**
     * Runs the code of calls until the JVM has compiled it, without reaching a driver. For a thread of its own.
     *
     * @param goOn called from time to time; returns whether to continue
     */
    default void warm(BooleanSupplier goOn) {
        // there is nothing to prepare
    }

    /** Releases the driver. Calls must have ended; a later one is an {@link IllegalStateException} or returns an error. */
    @Override
    void close();
}
