package io.tessera.executor.call;

import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.stream.ClientStreams;

/**
 * The objects with which one client's calls are made. Parts are owned by the client's thread, unless their documentation says otherwise.
 *
 * @param device  the one context
 * @param driver  the executor's own calls for this client
 * @param handles its handles
 * @param streams its contexts and streams
 * @param fences  its modules
 * @param moved   the bytes that its call in progress moves
 */
public record ClientExecution(DeviceContext device, DriverCalls driver, ClientHandles handles, ClientStreams streams, ClientFences fences,
        MovedBytes moved) {
}
