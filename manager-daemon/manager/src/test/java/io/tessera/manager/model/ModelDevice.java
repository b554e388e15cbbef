package io.tessera.manager.model;

/** Memory of a device, in chunks: what there really is, and which client has it. Not thread-safe. */
final class ModelDevice {
    /** A chunk. */
    static final long CHUNK = 1L << 30;

    private int realChunks;
    private int takenChunks;
    private int usedChunks;
    private int hiddenChunks;

    /**
     * A device.
     *
     * @param realChunks   what can be had
     * @param hiddenChunks what is not available, although the driver says that it is free
     */
    ModelDevice(int realChunks, int hiddenChunks) {
        this.realChunks = realChunks;
        this.hiddenChunks = hiddenChunks;
    }

    /** One chunk for a client, if there is one. */
    boolean take() {
        if (usedChunks + takenChunks >= realChunks) {
            return false;
        }
        usedChunks++;
        return true;
    }

    void give(int chunks) {
        usedChunks -= chunks;
        if (usedChunks < 0) {
            throw new AssertionError("more was given back than taken");
        }
    }

    /** A process that nobody plans takes a chunk, if there is one. */
    boolean takenByAnother() {
        if (usedChunks + takenChunks >= realChunks) {
            return false;
        }
        takenChunks++;
        return true;
    }

    /** And gives it back. */
    boolean givenByAnother() {
        if (takenChunks == 0) {
            return false;
        }
        takenChunks--;
        return true;
    }

    /** What clients can have together. */
    int roomChunks() {
        return realChunks - takenChunks;
    }

    int usedChunks() {
        return usedChunks;
    }

    /** What the driver says is free. */
    long freeBytes() {
        return (realChunks - takenChunks - usedChunks + hiddenChunks) * CHUNK;
    }
}
