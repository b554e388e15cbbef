package io.tessera.os.linux;

import io.tessera.os.LinuxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Private zeroed memory outside of the heap that grows without being copied: the kernel moves its pages. A page is allocated at the first write. One
 * owner thread; {@link #close} releases it.
 */
public final class GrowingMemory implements AutoCloseable {
    private static final long FIRST_BYTES = 1L << 20;
    /** Growth factor at first. Reserved room costs nothing before the first write, and moving splits the kernel's large pages. */
    private static final int FIRST_GROWTH = 64;
    private static final int PROT_READ_WRITE = 1 | 2;
    /** MAP_PRIVATE, MAP_ANONYMOUS. */
    private static final int MAP_MEMORY = 2 | 0x20;
    private static final int MREMAP_MAYMOVE = 1;
    private static final int MADV_HUGEPAGE = 14;

    private Arena view;
    private MemorySegment memory = MemorySegment.NULL;

    /**
     * Returns all of the memory, with at least this size. The segment that an earlier call returned is no longer valid if it was smaller.
     *
     * @throws LinuxException if there is no room for that much; the present memory is not changed
     */
    public MemorySegment atLeast(long bytes) throws LinuxException {
        if (memory.byteSize() >= bytes) {
            return memory;
        }
        long larger = Math.max(FIRST_BYTES, memory.byteSize());
        while (larger < bytes) {
            larger *= larger == FIRST_BYTES ? FIRST_GROWTH : 2;
        }
        long address = memory.byteSize() == 0 ? LibC.mmap(0, larger, PROT_READ_WRITE, MAP_MEMORY, -1)
                : LibC.mremap(memory, memory.byteSize(), larger, MREMAP_MAYMOVE);
        if (address < 0) {
            throw new LinuxException("mmap", larger + " bytes", (int) -address);
        }
        MemorySegment whole = MemorySegment.ofAddress(address).reinterpret(larger);
        // Half of the time is the kernel's clearing of small pages. A kernel without large pages refuses, which does no harm.
        LibC.madvise(whole, larger, MADV_HUGEPAGE);
        if (view != null) {
            view.close();
        }
        view = Arena.ofConfined();
        memory = whole.reinterpret(larger, view, null);
        return memory;
    }

    @Override
    public void close() {
        if (view != null) {
            MemorySegment whole = MemorySegment.ofAddress(memory.address()).reinterpret(memory.byteSize());
            view.close(); // from here on no reader can access memory that is gone
            view = null;
            memory = MemorySegment.NULL;
            LibC.munmap(whole, whole.byteSize()); // fails only for an address that this object does not own
        }
    }
}
