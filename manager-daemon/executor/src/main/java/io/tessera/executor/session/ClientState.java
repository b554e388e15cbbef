package io.tessera.executor.session;

import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.image.ClientImages;
import io.tessera.executor.memory.PinnedMemory;

/**
 * Everything that one client has in the executor, for the session that owns it. {@code SessionFactory} makes it as a whole, and {@code ClientSession}, the only
 * class that gets the whole, ends it. No part is looked up here while records are executed.
 *
 * <p>The parts are grouped by who needs them together. {@code execution} is for classes that need four or more of its parts: the checks of calls, the families
 * of graphs and memory, the queries, and the end of a client. {@code allocations} is for the same families, since a graph or an allocation touches range,
 * charge, window and pools in one call. {@code completion} is for classes that answer the client. A class that needs fewer parts takes these parts themselves.
 *
 * @param execution       the objects with which its calls are made
 * @param allocations     its device memory
 * @param completion      how it learns how far its work has come
 * @param images          where images of its code come from
 * @param pinned          host memory that the client maps, too
 * @param synchronization the gate at which it waits for clients whose streams wait for their programs, and at which they wait for it
 */
record ClientState(ClientExecution execution, ClientAllocations allocations, ClientCompletion completion, ClientImages images, PinnedMemory pinned,
        SynchronizationGate.Client synchronization) {
}
