package io.tessera.executor.call;

import io.tessera.executor.stream.ClientContext;

/** Executes a call that needs more than one call of the driver's entry. One owner thread. */
@FunctionalInterface
public interface CallBody {
    /**
     * Makes the call, after arguments were read, handles translated and addresses checked.
     *
     * @param context the client's context; null for calls that need none
     * @return the CUresult; output data is in the data of the frame's pointers
     * @throws RejectedException if an argument is not allowed
     */
    int call(CallFrame frame, ClientContext context) throws RejectedException;
}
