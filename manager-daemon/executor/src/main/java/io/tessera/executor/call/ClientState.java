package io.tessera.executor.call;

import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.image.ImageOffers;
import io.tessera.executor.image.ImageStore;
import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.PinnedMemory;
import io.tessera.executor.pool.ClientPools;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.print.ClientPrinting;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.CompletionCounters;
import io.tessera.executor.stream.EventWatch;
import io.tessera.executor.window.ClientWindow;
import io.tessera.protocol.relay.RelaySegment;

/**
 * Everything that one client has in the executor. Parts are owned by the client's thread, unless they say otherwise.
 *
 * @param device  the one context
 * @param driver  the executor's own calls for this client
 * @param segment what is shared with the client
 * @param handles its handles
 * @param streams its contexts and streams
 * @param words   its completion words
 * @param watch   its watched events
 * @param memory  its live memory
 * @param charge  what it has taken of its tenant's memory
 * @param pinned  memory that it maps too
 * @param printing what its kernels print
 * @param window  its way into its tenant's window
 * @param pools   its memory pools, and memory that waits for work to end
 * @param graphMemory memory of its graphs
 * @param moved  what its call in progress moves
 * @param fences  its modules
 * @param exports what it has handed to others of its tenant, and opened of theirs
 * @param images  files with images that it has handed over
 * @param store   images that were read from files, of all clients
 * @param standstill where it waits for clients whose streams wait for their programs, and they for it
 */
public record ClientState(DeviceContext device, DriverCalls driver, RelaySegment segment, ClientHandles handles,
        ClientStreams streams, CompletionCounters words, EventWatch watch, ClientMemory memory, ClientCharge charge,
        PinnedMemory pinned, ClientPrinting printing, ClientWindow window, ClientPools pools, GraphMemory graphMemory,
        MovedBytes moved, ClientFences fences, ClientExports exports, ImageOffers images, ImageStore store,
        SynchronizationGate.Client synchronization) {
}
