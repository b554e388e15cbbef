package io.tessera.manager.residency;

/** How a sentence names clients. A user may see the names of the own programs alone. Stateless. */
@FunctionalInterface
interface ClientNames {
    /** For everybody: the numbers, which the status has too, with the names that its reader may see. */
    ClientNames NUMBERS = client -> "client " + client.clientId();

    /** For the log, which administrators read. */
    ClientNames ALL = client -> NUMBERS.of(client) + " (" + client.tenant() + ")";

    /** Returns a client's name. */
    String of(ClientDeviceMemory client);

    /** Returns the names for the user of a client. */
    static ClientNames forUserOf(ClientDeviceMemory reader) {
        int uid = reader.uid();
        return client -> client.uid() == uid ? ALL.of(client) : NUMBERS.of(client) + " (another user's)";
    }
}
