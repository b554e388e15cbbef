package io.tessera.executor.fence;

import java.util.concurrent.atomic.AtomicLong;

/** Counts by which code a client's launches run where it is not the fenced kernel itself. One thread counts, any reads. */
final class VariantLaunchCounts {
    private final AtomicLong second = new AtomicLong();
    private final AtomicLong few = new AtomicLong();
    private final AtomicLong nativeCode = new AtomicLong();

    private static void count(AtomicLong launches) {
        launches.setRelease(launches.getPlain() + 1);
    }

    /** By a specialised variant. */
    void second() {
        count(second);
    }

    /** By a specialised variant for few blocks. */
    void few() {
        count(second);
        count(few);
    }

    /** Without fences, by whichever entry. */
    void nativeCode() {
        count(nativeCode);
    }

    /** Launches by specialised variants, those for few blocks among them. */
    long bySecond() {
        return second.getAcquire();
    }

    /** Launches by specialised variants for few blocks. */
    long byFew() {
        return few.getAcquire();
    }

    /** Launches without fences. */
    long byNativeCode() {
        return nativeCode.getAcquire();
    }
}
