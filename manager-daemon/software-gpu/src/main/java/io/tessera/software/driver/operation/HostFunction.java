package io.tessera.software.driver.operation;

import io.tessera.software.driver.work.Operation;

/**
 * Calls a function of the program (CUhostFn). Not called once the context is lost, as the driver documents.
 *
 * @param function its address
 * @param userData its argument
 */
public record HostFunction(long function, long userData) implements Operation {
    @Override
    public Place place() {
        return Place.OUTSIDE;
    }

    @Override
    public boolean run(Run task) {
        NativeCalls.hostFunction(function, userData);
        return true;
    }
}
