package io.tessera.agent.boot;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Launches by kernel handle and by name. A lookup probes an open-addressing table without a lock and creates no objects.
 * Any thread. Holds at most {@value #MOST} of each.
 */
final class LaunchTable {
    private static final int SLOTS = 1 << 13;
    private static final int MOST = SLOTS / 2;

    private final AtomicReferenceArray<Launches> byHandle = new AtomicReferenceArray<>(SLOTS);
    private final ConcurrentHashMap<String, Launches> byName = new ConcurrentHashMap<>();
    /** Launches of kernels that were replaced when the names were full. */
    private final LongAdder nameless = new LongAdder();
    private int handles;

    private static int slot(long handle) {
        return (int) ((handle >>> 3) * 0x9E3779B97F4A7C15L >>> 51);
    }

    /** Returns the launches of a kernel, whether or not its name is known; null: the table is full. */
    Launches of(long handle) {
        for (int i = slot(handle), n = 0; n < SLOTS; i = i + 1 & SLOTS - 1, n++) {
            Launches there = byHandle.get(i);
            if (there == null) {
                return put(handle, "kernel 0x" + Long.toHexString(handle));
            }
            if (there.handle == handle) {
                return there;
            }
        }
        return null;
    }

    /** Returns the launches of a function or copy without a handle; null: the table is full. */
    Launches of(String name) {
        Launches there = byName.get(name);
        if (there != null || byName.size() >= MOST) {
            return there;
        }
        return byName.computeIfAbsent(name, n -> new Launches(0, n));
    }

    /**
     * Gives a handle the name of its kernel. The handle is new, or a module was unloaded and another one reuses it.
     */
    synchronized void name(long handle, String name) {
        Launches there = find(handle);
        if (there == null) {
            put(handle, name);
        } else if (!there.name.equals(name)) {
            Launches total = of(there.name);
            if (total == null) {
                nameless.add(there.count.sum());
            } else {
                total.count.add(there.count.sum());
                there.samples().forEach((site, times) -> total.samples()
                        .computeIfAbsent(site, s -> new LongAdder()).add(times.sum()));
            }
            byHandle.set(index(handle), new Launches(handle, name));
        }
    }

    private Launches find(long handle) {
        int i = index(handle);
        return i < 0 ? null : byHandle.get(i);
    }

    private int index(long handle) {
        for (int i = slot(handle), n = 0; n < SLOTS; i = i + 1 & SLOTS - 1, n++) {
            Launches there = byHandle.get(i);
            if (there == null) {
                return -1;
            }
            if (there.handle == handle) {
                return i;
            }
        }
        return -1;
    }

    private synchronized Launches put(long handle, String name) {
        Launches there = find(handle);
        if (there != null || handles >= MOST) {
            return there;
        }
        int i = slot(handle);
        while (byHandle.get(i) != null) {
            i = i + 1 & SLOTS - 1;
        }
        Launches fresh = new Launches(handle, name);
        byHandle.set(i, fresh);
        handles++;
        return fresh;
    }

    /** Returns the sum of all launches. */
    long total() {
        long total = nameless.sum();
        for (Launches launches : all()) {
            total += launches.count.sum();
        }
        return total;
    }

    /** Returns a snapshot of all entries. */
    List<Launches> all() {
        List<Launches> all = new ArrayList<>(byName.values());
        for (int i = 0; i < SLOTS; i++) {
            Launches there = byHandle.get(i);
            if (there != null) {
                all.add(there);
            }
        }
        return all;
    }
}
