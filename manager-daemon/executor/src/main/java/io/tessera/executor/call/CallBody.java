package io.tessera.executor.call;

import io.tessera.executor.stream.ClientContext;

/** Makes a call that is more than a call of the driver's entry. One owner thread. */
@FunctionalInterface
public interface CallBody {
    /**
     * Makes the call. Arguments are read, handles translated and addresses checked before.
     *
     * @param context the client's context; null for calls that need none
     * @return the CUresult; output data is behind the frame's pointers
     * @throws RejectedException if an argument is not allowed
     */
    int call(CallFrame frame, ClientContext context) throws RejectedException;
}
