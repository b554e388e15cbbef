package io.tessera.software.execution;

/** What the lanes of a warp compute together from several values of each. Immutable; used by many host threads at once. */
public interface WarpFunction {
    /**
     * Takes {@link ThreadState#values} of each lane, and puts results there.
     *
     * @param threads the block's threads
     * @param first   the warp's first thread
     * @param members the lanes that take part, the others have exited
     * @throws io.tessera.software.memory.MemoryFault if a lane's address is wrong; {@link BlockState#running} is that thread
     */
    void apply(ThreadState[] threads, int first, int members);
}
