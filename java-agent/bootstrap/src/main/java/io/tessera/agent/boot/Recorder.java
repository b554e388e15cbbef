package io.tessera.agent.boot;

import io.tessera.agent.clock.Ticks;
import java.util.concurrent.atomic.LongAdder;

/**
 * The methods that instrumented code calls. Nothing here throws into the application: errors are counted ({@link AgentCounters}). A
 * launch or a copy creates no object after the first of its kind, takes no lock, and takes a stack only when {@link
 * Sampling} says so. Any thread.
 *
 * <p>Results are those of the instrumented method: null (void) and 0 are success for CUDA's result codes.
 */
public final class Recorder {
    /** Directions of copies, as advice passes them; the first three are cudaMemcpyKind's own numbers. */
    private static final String[] COPIES = {"[copy host to host]", "[copy host to device]", "[copy device to host]",
            "[copy device to device]", "[copy]"};
    private static final int UNKNOWN_COPY = 4;
    private static final int PINNED = MemoryKind.PINNED.ordinal();
    /** Maximum number of live allocations that are tracked; further ones are counted as dropped. */
    private static final int MOST_ALLOCATIONS = 1 << 17;
    /**
     * Stacks a second. A stack of launches costs some 5 us where the code that takes it is compiled, but few stacks
     * mean that it seldom is: 200 to 300 us, interpreted, with cold caches. So their time is bounded too.
     */
    private static final int MOST_LAUNCH_STACKS = 10;
    private static final int MOST_ALLOCATION_STACKS = 500;
    /**
     * After a stack of a launch none is taken for this many times its own time: at most 0.1 % of one thread's, and as much again for what
     * it drove out of the caches (measured: with 0.2 % and 20 a second a loop of launches took 0.5 % longer).
     */
    private static final int LAUNCH_PAUSE = 1000;
    private static final int DEFAULT_EVERY = 64;

    static final AllocationTable ALLOCATIONS = new AllocationTable(MOST_ALLOCATIONS);
    static final LaunchTable LAUNCHES = new LaunchTable();
    private static final RecentKernels RECENT = new RecentKernels();
    static final Owners OWNERS = new Owners(ALLOCATIONS);
    static final CallSites SITES = new CallSites();
    private static final Sampling LAUNCH_STACKS = new Sampling(DEFAULT_EVERY, MOST_LAUNCH_STACKS, LAUNCH_PAUSE);
    private static final Sampling ALLOCATION_STACKS = new Sampling(1, MOST_ALLOCATION_STACKS, 0);
    private static final Launches[] COPIED = new Launches[COPIES.length];
    private static final LongAdder LIVE_BYTES = new LongAdder();
    private static final long STARTED = Ticks.nanos();

    private static volatile boolean on = true;
    private static volatile Sink sink;

    static {
        for (int i = 0; i < COPIED.length; i++) {
            COPIED[i] = LAUNCHES.of(COPIES[i]);
        }
    }

    private Recorder() {
    }

    /**
     * Called after an allocation whose address an argument holds.
     *
     * @param address the argument
     * @param bytes size, or one of its factors
     * @param factor the other factor
     * @param kind ordinal of a {@link MemoryKind}
     * @param result what the method returned
     */
    public static void allocated(Object address, long bytes, long factor, int kind, Object result) {
        if (!on || failed(result)) {
            return;
        }
        try {
            record(address, bytes * factor, kind);
        } catch (Throwable failure) {
            AgentCounters.suppressed(failure);
        }
    }

    /**
     * Called after an allocation that returns the address, or 0 or null on failure.
     *
     * @param address what the method returned
     * @param bytes size, or one of its factors
     * @param factor the other factor
     * @param kind ordinal of a {@link MemoryKind}
     */
    public static void returned(Object address, long bytes, long factor, int kind) {
        if (!on || address == null) {
            return;
        }
        try {
            record(address, bytes * factor, kind);
        } catch (Throwable failure) {
            AgentCounters.suppressed(failure);
        }
    }

    private static void record(Object argument, long bytes, int kind) throws Throwable {
        long address = Addresses.of(argument);
        if (address == 0) {
            return;
        }
        // Pinned memory is used through buffers that do not hold the pointer object: its collection says nothing.
        Object owner = kind != PINNED && Addresses.isOwner(argument) ? argument : null;
        Site site = ALLOCATION_STACKS.next() ? SITES.here() : Site.UNSAMPLED;
        Allocation allocation = new Allocation(owner, OWNERS.queue(), address, bytes, MemoryKind.of(kind), site,
                Thread.currentThread().getId(), Ticks.nanos());
        if (add(allocation)) {
            Sink listener = sink;
            if (listener != null && listener.wantsAllocations()) {
                listener.allocated(allocation);
            }
        }
    }

    private static boolean add(Allocation allocation) {
        Allocation stale = ALLOCATIONS.remove(allocation.address);
        if (stale != null) {
            ended(stale);
        }
        if (!ALLOCATIONS.add(allocation)) {
            AgentCounters.drop();
            return false;
        }
        if (allocation.kind.onDevice()) {
            LIVE_BYTES.add(allocation.bytes);
        }
        return true;
    }

    /**
     * Called before a free. The entry is removed first, so that another thread's allocation at the same address is not mistaken for it. An
     * allocation recorded earlier is tracked to its end even while recording is off.
     *
     * @param argument holds the address
     * @return the entry, for {@link #freed}; or null
     */
    public static Object freeing(Object argument) {
        try {
            long address = Addresses.of(argument);
            return address == 0 ? null : ALLOCATIONS.remove(address);
        } catch (Throwable failure) {
            AgentCounters.suppressed(failure);
            return null;
        }
    }

    /**
     * Called after a free.
     *
     * @param entry the result of {@link #freeing}
     * @param result what the method returned
     * @param thrown the exception that it threw, or null
     */
    public static void freed(Object entry, Object result, Throwable thrown) {
        if (entry == null) {
            return;
        }
        try {
            Allocation allocation = (Allocation) entry;
            if (thrown != null || failed(result)) {
                // Nothing was freed; the entry's bytes were never subtracted.
                if (!ALLOCATIONS.add(allocation)) {
                    AgentCounters.drop();
                }
                return;
            }
            ended(allocation);
        } catch (Throwable failure) {
            AgentCounters.suppressed(failure);
        }
    }

    /**
     * Processes the references that the collector has enqueued since the last call. Only the agent's own thread calls it.
     *
     * @return the number of references
     */
    public static int noteCollected() {
        return OWNERS.drain();
    }

    /**
     * Frees device memory whose owner was collected. Nothing is freed where the driver is not loaded or refuses; the
     * entry then stays.
     *
     * @return bytes freed
     */
    public static long release() {
        return OWNERS.release(Recorder::ended);
    }

    /** Records the end of an allocation that has been removed from the table. */
    private static void ended(Allocation allocation) {
        if (allocation.kind.onDevice()) {
            LIVE_BYTES.add(-allocation.bytes);
        }
        allocation.clear();
        Sink listener = sink;
        if (listener != null && listener.wantsAllocations()) {
            listener.freed(allocation, Ticks.nanos() - allocation.bornNanos);
        }
    }

    /**
     * Called after a pointer object was derived from another, with an offset for example.
     *
     * @param from the original pointer
     * @param made the derived pointer
     */
    public static void derived(Object from, Object made) {
        if (!on || made == null || made == from) {
            return;
        }
        try {
            OWNERS.derived(Addresses.of(from), made);
        } catch (Throwable failure) {
            AgentCounters.suppressed(failure);
        }
    }

    /**
     * Called after a lookup of a kernel.
     *
     * @param kernel object or number that represents it
     * @param name its name, in any form that {@link Names} reads
     * @param result what the method returned
     */
    public static void named(Object kernel, Object name, Object result) {
        if (name == null || failed(result)) {
            return;
        }
        try {
            long handle = Addresses.of(kernel);
            if (handle != 0) {
                LAUNCHES.name(handle, Names.of(name));
                RECENT.named();
            }
        } catch (Throwable failure) {
            AgentCounters.suppressed(failure);
        }
    }

    /**
     * Called after a launch or a library call.
     *
     * @param kernel object or number that represents the kernel, or its name
     * @param result what the method returned
     */
    public static void launched(Object kernel, Object result) {
        if (!on || failed(result)) {
            return;
        }
        try {
            Launches launches = RECENT.of(kernel);
            if (launches == null) {
                launches = found(kernel);
            }
            if (launches == null) {
                AgentCounters.drop();
                return;
            }
            launches.count.increment();
            sample(launches);
        } catch (Throwable failure) {
            AgentCounters.suppressed(failure);
        }
    }

    private static Launches found(Object kernel) throws Throwable {
        int namings = RECENT.namings();
        String name = Addresses.nameOf(kernel);
        Launches launches = name == null ? LAUNCHES.of(Addresses.of(kernel)) : LAUNCHES.of(name);
        // A cell, of an array for example, can hold another handle the next time.
        if (launches != null && name == null && Addresses.isOwner(kernel)) {
            RECENT.keep(kernel, launches, namings);
        }
        return launches;
    }

    /**
     * Called after a copy.
     *
     * @param bytes size, or one of its factors
     * @param factor the other factor
     * @param direction a cudaMemcpyKind
     * @param result what the method returned
     */
    public static void copied(long bytes, long factor, int direction, Object result) {
        if (!on || failed(result)) {
            return;
        }
        try {
            Launches launches = COPIED[direction < 0 || direction > UNKNOWN_COPY ? UNKNOWN_COPY : direction];
            launches.count.increment();
            launches.bytes.add(bytes * factor);
            sample(launches);
        } catch (Throwable failure) {
            AgentCounters.suppressed(failure);
        }
    }

    private static void sample(Launches launches) {
        // The first launch always takes a stack, so that every kernel has a site.
        if (LAUNCH_STACKS.next() || launches.isNew()) {
            long began = Ticks.nanos();
            Site site = SITES.here();
            launches.sampled(site);
            Sink listener = sink;
            if (listener != null) {
                listener.launched(launches.name, site, LAUNCH_STACKS.every());
            }
            LAUNCH_STACKS.took(began);
        }
    }

    private static boolean failed(Object result) {
        return result instanceof Integer && (Integer) result != 0;
    }

    /**
     * Sets the recording mode.
     *
     * @param mode {@code on}, {@code off} or {@code sampled:N}
     * @throws IllegalArgumentException if it is none of them
     */
    public static void mode(String mode) {
        if (mode.equals("off")) {
            on = false;
            return;
        }
        int every = 1;
        if (mode.startsWith("sampled:")) {
            try {
                every = Integer.parseInt(mode.substring("sampled:".length()));
            } catch (NumberFormatException e) {
                every = 0;
            }
        } else if (mode.equals("sampled")) {
            every = DEFAULT_EVERY;
        } else if (!mode.equals("on")) {
            every = 0;
        }
        if (every < 1) {
            throw new IllegalArgumentException("record=" + mode + ": on, off, or sampled:N with N of 1 or more");
        }
        LAUNCH_STACKS.every(every);
        on = true;
    }

    /**
     * Returns the recording mode.
     *
     * @return the mode, in the form that {@link #mode(String)} accepts
     */
    public static String mode() {
        int every = LAUNCH_STACKS.every();
        return !on ? "off" : every == 1 ? "on" : "sampled:" + every;
    }

    /**
     * Sets the listener of events.
     *
     * @param listener the listener; null: none
     */
    public static void sink(Sink listener) {
        sink = listener;
    }

    /**
     * Adds a prefix of class names that are never call sites: an instrumented library.
     *
     * @param prefix a package with its trailing dot
     */
    public static void library(String prefix) {
        SITES.addLibrary(prefix);
    }

    /** Returns the size of live device memory in bytes. */
    static long liveBytes() {
        return LIVE_BYTES.sum();
    }

    /** Returns the number of launches since the start. */
    static long launches() {
        long launches = LAUNCHES.total();
        for (Launches copies : COPIED) {
            launches -= copies.count.sum();
        }
        return launches;
    }

    /** Returns the nanoseconds since the allocation. */
    static long ageOf(Allocation allocation) {
        return Ticks.nanos() - allocation.bornNanos;
    }

    /** Returns the nanoseconds since the agent's start. */
    static long ageNanos() {
        return Ticks.nanos() - STARTED;
    }
}
