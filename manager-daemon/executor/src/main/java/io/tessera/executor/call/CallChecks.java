package io.tessera.executor.call;

/**
 * What all calls of one client check and translate with. One owner thread.
 *
 * @param addresses  whether addresses are the client's
 * @param arrays     whether copies stay within arrays
 * @param copies     structures of copies
 * @param structures other structures
 * @param results    handles in results
 * @param moved      what the call in progress moves
 */
public record CallChecks(AddressCheck addresses, ArrayBounds arrays, CopyStructures copies, StructureTranslation structures, HandleResults results,
        MovedBytes moved) {
    /** For one client. */
    public static CallChecks of(ClientState client) {
        MovedBytes moved = client.moved();
        AddressCheck addresses = new AddressCheck(client.memory(), client.streams(), client.handles().deferredReleases(), moved);
        ArrayBounds arrays = new ArrayBounds(client.driver(), client.handles().deferredReleases(), moved);
        HandleResults results = new HandleResults(client.handles(), client.driver(), (kind, value) -> client.fences().shown(kind, value));
        return new CallChecks(addresses, arrays, new CopyStructures(client.handles(), addresses, arrays, client.device().handle()),
                new StructureTranslation(client.device(), client.handles(), addresses, results), results, moved);
    }
}
