package io.tessera.executor.driver;

/**
 * What a driver does at one entry, whoever calls it. Entries of which nothing is known have {@link #PLAIN}. Immutable.
 *
 * @param synchronizes  it waits for every stream of the context, and lets nobody submit meanwhile
 * @param needsRoom     it takes device memory of its own: for code, graphs, streams, or what kernels need beside their parameters
 * @param lockedForLong it works on a whole graph, and holds the context's lock meanwhile
 * @param streams       by how many streams the context has more after it
 * @param sharesChannel its stream may share a channel with others, so that it may wait for what stands there
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
