package io.tessera.executor.swap;

import io.tessera.device.CudaEnums.HostRegisterFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxException;
import io.tessera.os.SharedMemoryPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pinned host memory in frames of 2 MiB, for copies of memory that has left the device. It grows when frames are taken. It only shrinks when the last tenant
 * leaves, because a driver waits for all work of the context when memory is unpinned. If it may not grow, frames are taken from kept copies ({@link #keeps}),
 * the oldest first. Thread-safe; calls that grow it call the driver.
 */
public final class HostFrames {
    /** Bytes of a frame, and of a part of device memory that is examined and copied by itself. */
    public static final int FRAME_BYTES = 2 << 20;
    /** Size of a block, which is pinned as a whole: registering 32 MiB that were accessed before blocks launches for some 2 ms (H200). */
    private static final long BLOCK_BYTES = 32L << 20;
    /**
     * Size of a gap behind each block: a driver refuses a copy across two registrations (580 on an H100), so frames of two blocks must not be
     * adjacent.
     */
    private static final long GAP_BYTES = 4096;
    private static final long PORTABLE_AND_MAPPED = HostRegisterFlag.PORTABLE | HostRegisterFlag.DEVICEMAP;
    private static final Logger LOG = LoggerFactory.getLogger(HostFrames.class);

    private final SharedMemoryPort memory;
    private final FilePort files;
    private final LongSupplier available;
    private final long mostBytes;
    private final long reserveBytes;
    private final ArrayDeque<Long> free = new ArrayDeque<>();
    private final List<Block> blocks = new ArrayList<>();
    /** Contents on the device of which the host has copies, the oldest copies first. */
    private final ArrayDeque<Copies> kept = new ArrayDeque<>();
    private long heldBytes;
    private boolean told;

    /** Copies that may be given up. */
    interface Copies {
        /** Gives them all back. */
        void forget(HostFrames host);
    }

    private record Block(Arena arena, long address) {
    }

    /**
     * Creates an empty store.
     *
     * @param available    returns the bytes that the host has left; called before each growth
     * @param mostBytes    of pinned memory
     * @param reserveBytes bytes that the host must keep available
     */
    public HostFrames(SharedMemoryPort memory, FilePort files, LongSupplier available, long mostBytes, long reserveBytes) {
        this.memory = memory;
        this.files = files;
        this.available = available;
        this.mostBytes = mostBytes;
        this.reserveBytes = reserveBytes;
    }

    /**
     * Takes frames.
     *
     * @return their addresses, for host and device; null: there are not enough, and none is taken
     */
    public long[] take(DriverCalls driver, int count) {
        while (true) {
            synchronized (this) {
                reclaim(count);
                if (free.size() >= count) {
                    long[] taken = new long[count];
                    for (int i = 0; i < count; i++) {
                        taken[i] = free.removeFirst();
                    }
                    return taken;
                }
            }
            if (!grow(driver)) {
                return null;
            }
        }
    }

    /** Discards the oldest kept copies until there are enough frames. The lock is held. */
    private void reclaim(int count) {
        while (free.size() < count && !mayGrow()) {
            Copies oldest = kept.pollFirst();
            if (oldest == null) {
                return;
            }
            oldest.forget(this);
        }
    }

    private boolean mayGrow() {
        return heldBytes + BLOCK_BYTES <= mostBytes && available.getAsLong() - BLOCK_BYTES >= reserveBytes;
    }

    private boolean grow(DriverCalls driver) {
        synchronized (this) {
            if (!mayGrow()) {
                return tell("the host has no more memory for it");
            }
            heldBytes += BLOCK_BYTES;
        }
        Arena arena = Arena.ofShared();
        MemorySegment block = block(arena);
        int result = block == null ? CudaResult.OUT_OF_MEMORY
                : driver.call(DriverEntry.cuMemHostRegister_v2, block.address(), BLOCK_BYTES, PORTABLE_AND_MAPPED);
        synchronized (this) {
            if (result != CudaResult.SUCCESS) {
                heldBytes -= BLOCK_BYTES;
                arena.close();
                return tell("CUDA error " + result + " where it was to be pinned");
            }
            blocks.add(new Block(arena, block.address()));
            for (long at = 0; at < BLOCK_BYTES; at += FRAME_BYTES) {
                free.addLast(block.address() + at);
            }
            return true;
        }
    }

    /** Allocates pages without the driver, which would hold its lock meanwhile. Returns null if the host has none left. */
    private MemorySegment block(Arena arena) {
        try {
            int descriptor = memory.create("tessera-swap", BLOCK_BYTES + GAP_BYTES);
            try {
                return files.reserve(descriptor, BLOCK_BYTES) == 0 ? memory.map(descriptor, BLOCK_BYTES + GAP_BYTES, arena) : null;
            } finally {
                memory.close(descriptor);
            }
        } catch (LinuxException e) {
            LOG.warn("no host memory for device memory that is to leave: {}", e.getMessage());
            return null;
        }
    }

    private boolean tell(String why) {
        if (!told) {
            told = true;
            LOG.warn("{} MiB of host memory hold what has left the device, and there is no more: {}", heldBytes >> 20, why);
        }
        return false;
    }

    /** Returns all memory to the host: the last tenant has left, and no client depends on work for which the driver waits here. Returns a CUresult. */
    public synchronized int release(DriverCalls driver) {
        int first = CudaResult.SUCCESS;
        for (Block block : List.copyOf(blocks)) {
            int result = driver.call(DriverEntry.cuMemHostUnregister, block.address);
            if (result == CudaResult.SUCCESS) {
                block.arena.close();
                blocks.remove(block);
                free.removeIf(frame -> frame - block.address >= 0 && frame - block.address < BLOCK_BYTES);
                heldBytes -= BLOCK_BYTES;
            }
            first = first == CudaResult.SUCCESS ? result : first;
        }
        told = false;
        return first;
    }

    /** Gives a frame back. */
    public synchronized void give(long frame) {
        free.addFirst(frame);
    }

    /** Records that a content is on the device, and that the host has copies of it that may be discarded. */
    synchronized void keeps(Copies content) {
        kept.addLast(content);
    }

    /** Marks its copies as needed: they may not be discarded from now on. */
    synchronized void needs(Copies content) {
        kept.remove(content);
    }

    /** Returns the pinned bytes. */
    public synchronized long heldBytes() {
        return heldBytes;
    }

    /** Returns the pinned bytes that hold no copy. */
    public synchronized long freeBytes() {
        return (long) free.size() * FRAME_BYTES;
    }
}
