package io.tessera.manager.model;

/** Memory of a device, in chunks: what really exists, and which client has it. Not thread-safe. */
final class ModelDevice {
    /** A chunk. */
    static final long CHUNK = 1L << 30;

    private int realChunks;
    private int takenChunks;
    private int usedChunks;
    private int hiddenChunks;

    /**
     * Creates a device.
     *
     * @param realChunks   chunks that can be allocated
     * @param hiddenChunks chunks that cannot be allocated, although the driver reports them as free
     */
    ModelDevice(int realChunks, int hiddenChunks) {
        this.realChunks = realChunks;
        this.hiddenChunks = hiddenChunks;
    }

    /** Takes one chunk for a client, if there is one. */
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

    /** Takes a chunk for a process outside the plan, if there is one. */
    boolean takenByAnother() {
        if (usedChunks + takenChunks >= realChunks) {
            return false;
        }
        takenChunks++;
        return true;
    }

    /** Gives back a chunk of that process. */
    boolean givenByAnother() {
        if (takenChunks == 0) {
            return false;
        }
        takenChunks--;
        return true;
    }

    /** Returns what clients can have together. */
    int roomChunks() {
        return realChunks - takenChunks;
    }

    int usedChunks() {
        return usedChunks;
    }

    /** Returns what the driver reports as free. */
    long freeBytes() {
        return (realChunks - takenChunks - usedChunks + hiddenChunks) * CHUNK;
    }
}
