package io.tessera.executor.call;

import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.pool.ClientPools;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.window.ClientWindow;

/**
 * Device memory of one client. Parts are owned by the client's thread, unless their documentation says otherwise.
 *
 * @param memory      its live memory
 * @param charge      what it has taken of its tenant's memory
 * @param window      its access to its tenant's window
 * @param pools       its memory pools, and memory that waits for work to end
 * @param graphMemory memory of its graphs
 * @param exports     memory that it has handed to other clients of its tenant, or opened from them
 */
public record ClientAllocations(ClientMemory memory, ClientCharge charge, ClientWindow window, ClientPools pools, GraphMemory graphMemory,
        ClientExports exports) {
}
