package io.tessera.executor.fence;

import java.util.concurrent.atomic.AtomicLong;

/** Counts by which code a client's launches run where it is not the fenced kernel itself. One thread counts, any reads. */
final class LaunchCodes {
    private final AtomicLong second = new AtomicLong();
    private final AtomicLong few = new AtomicLong();
    private final AtomicLong nativeCode = new AtomicLong();

    private static void count(AtomicLong launches) {
        launches.setRelease(launches.getPlain() + 1);
    }

    /** By a second entry. */
    void second() {
        count(second);
    }

    /** By a second entry for few blocks. */
    void few() {
        count(second);
        count(few);
    }

    /** Without fences, by whichever entry. */
    void nativeCode() {
        count(nativeCode);
    }

    /** Launches by second entries, those for few blocks among them. */
    long bySecond() {
        return second.getAcquire();
    }

    /** Launches by second entries for few blocks. */
    long byFew() {
        return few.getAcquire();
    }

    /** Launches without fences. */
    long byNativeCode() {
        return nativeCode.getAcquire();
    }
}
