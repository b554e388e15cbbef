package io.tessera.software.compile;

import io.tessera.software.execution.ThreadState;

/** Room in a thread's state for the registers of a stop. Public for generated classes only. */
public final class SavedRegisters {
    private static final int LEAST = 16;

    private SavedRegisters() {
    }

    /** Returns the thread's array, at least this long; what was in a shorter one is lost. */
    public static long[] room(ThreadState thread, int count) {
        long[] saved = thread.saved;
        return saved != null && saved.length >= count ? saved : grow(thread, count);
    }

    private static long[] grow(ThreadState thread, int count) {
        thread.saved = new long[Math.max(LEAST, count)];
        return thread.saved;
    }
}
