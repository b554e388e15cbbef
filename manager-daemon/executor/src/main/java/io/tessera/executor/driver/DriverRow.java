package io.tessera.executor.driver;

/**
 * Behaviour of a driver at one entry, whatever its caller. Entries without special behaviour have {@link #PLAIN}. Immutable.
 *
 * @param synchronizes  whether it waits for every stream of the context and lets no thread submit meanwhile
 * @param needsRoom     whether it takes device memory of its own: for code, graphs, streams, or memory that kernels need beside their parameters
 * @param lockedForLong whether it works on a whole graph and holds the context's lock meanwhile
 * @param streams       number of streams by which the context grows
 * @param sharesChannel whether its stream may share a channel with others, so that it may wait for their work
 */
record DriverRow(boolean synchronizes, boolean needsRoom, boolean lockedForLong, int streams, boolean sharesChannel) {
    static final DriverRow PLAIN = new DriverRow(false, false, false, 0, false);

    DriverRow synchronizing() {
        return new DriverRow(true, needsRoom, lockedForLong, streams, sharesChannel);
    }

    DriverRow needingRoom() {
        return new DriverRow(synchronizes, true, lockedForLong, streams, sharesChannel);
    }

    DriverRow onWholeGraphs() {
        return new DriverRow(synchronizes, needsRoom, true, streams, sharesChannel);
    }

    DriverRow openingStream() {
        return new DriverRow(synchronizes, needsRoom, lockedForLong, 1, sharesChannel);
    }

    DriverRow endingStream() {
        return new DriverRow(synchronizes, needsRoom, lockedForLong, -1, sharesChannel);
    }

    DriverRow sharingChannel() {
        return new DriverRow(synchronizes, needsRoom, lockedForLong, streams, true);
    }
}
