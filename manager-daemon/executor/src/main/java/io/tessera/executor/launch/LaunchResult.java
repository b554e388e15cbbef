package io.tessera.executor.launch;

import io.tessera.device.CudaResult;
import io.tessera.executor.stream.ClientStream;

/** Result of a LAUNCH record. There is one object for each client, which the next record overwrites, so that no launch allocates. One owner thread. */
public final class LaunchResult {
    private ClientStream stream;
    private int status;
    private long returnedNs;
    private boolean unfinished;

    LaunchResult() {
    }

    void clear() {
        stream = null;
        status = CudaResult.SUCCESS;
        unfinished = false;
    }

    /** Records that the driver was called, and returned at a time. */
    void launched(ClientStream into, int result, long nowNs) {
        stream = into;
        status = result;
        returnedNs = nowNs;
    }

    LaunchResult answered(int result) {
        status = result;
        return this;
    }

    LaunchResult unfinished(boolean is) {
        unfinished = is;
        return this;
    }

    /** Returns the stream of the launch, or of its last part; null if the driver was not called. */
    public ClientStream stream() {
        return stream;
    }

    /** Returns the CUresult of the record. */
    public int status() {
        return status;
    }

    /** Returns when the driver returned from the launch, or from the last part of it; only valid with a stream. */
    public long returnedNs() {
        return returnedNs;
    }

    /** Returns whether parts of the grid are left, so that the record has to be executed again. */
    public boolean isUnfinished() {
        return unfinished;
    }
}
