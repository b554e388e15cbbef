package io.tessera.executor.call;

import io.tessera.executor.stream.ClientContext;

/** Makes a call that is more than a call of the driver's entry. One owner thread. */
@FunctionalInterface
public interface CallBody {
    /**
     * Makes the call; arguments are read, handles translated, addresses checked.
     *
     * @param context the client's context; null for calls that need none
     * @return the CUresult; out-data stands behind the frame's pointers
     * @throws RejectedException if something is not as it may be
     */
    int call(CallFrame frame, ClientContext context) throws RejectedException;
}
