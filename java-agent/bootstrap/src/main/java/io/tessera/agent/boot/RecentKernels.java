package io.tessera.agent.boot;

import java.lang.ref.WeakReference;

/**
 * Launches by the object that stands for a kernel, for those that were launched lately: to read a handle off an object of
 * an unknown class and to find it in the table touches three times as many cache lines, and after a driver's call none of
 * them is near. Any thread, without a lock; holds no kernel's object, and creates nothing while its slots are in use.
 */
final class RecentKernels {
    private static final int SLOTS = 256;

    /** An object and the launches found for it, with the naming count at which they were looked up. */
    private static final class Seen extends WeakReference<Object> {
        final Launches launches;
        final int namings;

        Seen(Object kernel, Launches launches, int namings) {
            super(kernel);
            this.launches = launches;
            this.namings = namings;
        }
    }

    /** Races lose an entry or write one twice: what is in one never changes. */
    private final Seen[] seen = new Seen[SLOTS];
    private volatile int namings;

    private static int slot(Object kernel) {
        return System.identityHashCode(kernel) & SLOTS - 1;
    }

    /** Returns the launches kept for this very object since the last naming, or null. */
    Launches of(Object kernel) {
        Seen there = seen[slot(kernel)];
        return there != null && there.get() == kernel && there.namings == namings ? there.launches : null;
    }

    /** Returns the number of namings so far. Must be read before the lookup whose result is kept. */
    int namings() {
        return namings;
    }

    /** Keeps the launches that were found for the object after {@code namings} namings, unless its slot is in use. */
    void keep(Object kernel, Launches launches, int namings) {
        int slot = slot(kernel);
        Seen there = seen[slot];
        if (there == null || there.namings != this.namings || there.get() == null) {
            seen[slot] = new Seen(kernel, launches, namings);
        }
    }

    /** Discards what is kept, because an object may now represent another kernel, or a handle another name. */
    synchronized void named() {
        namings++;
    }
}
