package io.tessera.executor.call;

import io.tessera.executor.stream.ClientContext;

/** How an entry is called whose meaning no description tells. One owner thread. */
@FunctionalInterface
interface SpecialCall {
    /**
     * Calls the driver in place of the generic way; arguments are read, handles translated, addresses checked.
     *
     * @param context the client's context; null for entries that need none
     * @return the CUresult; out-data stands behind the frame's pointers
     * @throws RejectedException if the packed data is wrong
     */
    int call(CallFrame frame, ClientContext context) throws RejectedException;
}
