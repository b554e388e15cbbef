package io.tessera.testing.driver;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What a fake driver tells of kernels that execute a part of their grid: they are known by their parameters. Any thread. */
public final class FakeSlices {
    private static final int ADDED = 6;
    private static final long MOST_TEXT = 1L << 24;
    private static final byte FIRST_OF_MACHINE_CODE = 0x7f;

    /** How many blocks of any kernel a processor holds; 0: it is not said. Then kernels count as in no clusters. */
    public volatile int blocksHeld;
    /** What is between any two events. */
    public volatile float elapsedMs;
    /** CUresult of launches, which are not made; 0: they are. */
    public volatile int launchError;
    private final Set<Long> modules = ConcurrentHashMap.newKeySet();
    private volatile boolean slicedLast;

    /** A library is loaded from there. */
    void loaded(long image) {
        MemorySegment text = MemorySegment.ofAddress(image).reinterpret(MOST_TEXT);
        slicedLast = text.get(ValueLayout.JAVA_BYTE, 0) != FIRST_OF_MACHINE_CODE && text.getString(0).split("\\.param \\.u32 ", -1).length > ADDED;
    }

    /** The module of the last library gets this handle, which is returned. */
    long module(long handle) {
        if (slicedLast) {
            modules.add(handle);
        }
        return handle;
    }

    /** Offset and bytes of a parameter of a kernel that has this many of eight bytes of its own; empty: there is none. */
    long[] parameter(Long module, int own, int index) {
        if (index < own) {
            return new long[] {index * 8L, 8};
        }
        boolean added = module != null && modules.contains(module) && index < own + ADDED;
        return added ? new long[] {own * 8L + (index - own) * 4L, 4} : new long[0];
    }
}
