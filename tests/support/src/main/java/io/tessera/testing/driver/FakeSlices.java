package io.tessera.testing.driver;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A fake driver's facts about kernels that execute a part of their grid, which it recognises by their parameters. Any thread. */
public final class FakeSlices {
    private static final int ADDED = 6;
    private static final long MOST_TEXT = 1L << 24;
    private static final byte FIRST_OF_MACHINE_CODE = 0x7f;

    /** Number of blocks of any kernel that a processor holds; 0: unknown. If set, kernels count as having no clusters. */
    public volatile int blocksHeld;
    /** Time between any two events. */
    public volatile float elapsedMs;
    /** CUresult of launches, which then do not run; 0: they run. */
    public volatile int launchError;
    private final Set<Long> modules = ConcurrentHashMap.newKeySet();
    private volatile boolean slicedLast;

    /** Records that a library was loaded from an address. */
    void loaded(long image) {
        MemorySegment text = MemorySegment.ofAddress(image).reinterpret(MOST_TEXT);
        slicedLast = text.get(ValueLayout.JAVA_BYTE, 0) != FIRST_OF_MACHINE_CODE && text.getString(0).split("\\.param \\.u32 ", -1).length > ADDED;
    }

    /** Gives the module of the last library this handle, and returns it. */
    long module(long handle) {
        if (slicedLast) {
            modules.add(handle);
        }
        return handle;
    }

    /** Returns offset and size of a parameter of a kernel that has this many eight-byte parameters of its own; empty: there is none. */
    long[] parameter(Long module, int own, int index) {
        if (index < own) {
            return new long[] {index * 8L, 8};
        }
        boolean added = module != null && modules.contains(module) && index < own + ADDED;
        return added ? new long[] {own * 8L + (index - own) * 4L, 4} : new long[0];
    }
}
