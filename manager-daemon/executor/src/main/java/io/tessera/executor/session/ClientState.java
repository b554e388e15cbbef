package io.tessera.executor.session;

import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.image.ClientImages;
import io.tessera.executor.memory.PinnedMemory;

/**
 * Everything that one client has in the executor, for the session that owns it: made at once by {@code SessionFactory}, and ended at once by {@code
 * ClientSession}, the only class that gets the whole. No part is looked up here while records are executed.
 *
 * <p>Its groups are what is passed on together. {@code execution} goes to those that need four or more of its parts: the checks of calls, the families of
 * graphs and memory, the queries, and what ends a client. {@code allocations} goes to the same families, since a graph or an allocation touches range, charge,
 * window and pools in one call. {@code completion} goes to those that answer. A class that needs fewer parts takes these parts themselves.
 *
 * @param execution       with what its calls are made
 * @param allocations     its device memory
 * @param completion      how it learns how far its work has come
 * @param images          where images of its code come from
 * @param pinned          host memory that it maps too
 * @param synchronization where it waits for clients whose streams wait for their programs, and they for it
 */
record ClientState(ClientExecution execution, ClientAllocations allocations, ClientCompletion completion, ClientImages images, PinnedMemory pinned,
        SynchronizationGate.Client synchronization) {
}
