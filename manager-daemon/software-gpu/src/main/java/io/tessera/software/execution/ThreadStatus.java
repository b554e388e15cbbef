package io.tessera.software.execution;

/** Status of a thread of a block: it can run, or the reason of the stop at which it waits. */
final class ThreadStatus {
    static final byte READY = 0;
    static final byte EXITED = StopReason.EXIT.status();
    static final byte YIELDED = StopReason.YIELD.status();
    static final byte AT_BARRIER = StopReason.BARRIER.status();
    static final byte AT_CLUSTER = StopReason.CLUSTER.status();
    static final byte AT_WARP = StopReason.WARP.status();

    private ThreadStatus() {
    }
}
