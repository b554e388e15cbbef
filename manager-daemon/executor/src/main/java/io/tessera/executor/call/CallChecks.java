package io.tessera.executor.call;

import io.tessera.executor.memory.ClientMemory;

/**
 * The checks and translations for all calls of one client. One owner thread.
 *
 * @param addresses  whether addresses are the client's
 * @param arrays     whether copies stay within arrays
 * @param copies     structures of copies
 * @param structures other structures
 * @param results    handles in results
 * @param moved      the bytes that the call in progress moves
 */
public record CallChecks(AddressCheck addresses, ArrayBounds arrays, CopyStructures copies, StructureTranslation structures, HandleResults results,
        MovedBytes moved) {
    /** Creates the checks of one client. */
    public static CallChecks of(ClientExecution execution, ClientMemory memory) {
        MovedBytes moved = execution.moved();
        AddressCheck addresses = new AddressCheck(memory, execution.streams(), execution.handles().deferredReleases(), moved);
        ArrayBounds arrays = new ArrayBounds(execution.driver(), execution.handles().deferredReleases(), moved);
        HandleResults results = new HandleResults(execution.handles(), execution.driver(), (kind, value) -> execution.fences().shown(kind, value));
        return new CallChecks(addresses, arrays, new CopyStructures(execution.handles(), addresses, arrays, execution.device().handle()),
                new StructureTranslation(execution.device(), execution.handles(), addresses, results), results, moved);
    }
}
