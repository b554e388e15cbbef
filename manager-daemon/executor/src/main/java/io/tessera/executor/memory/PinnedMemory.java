package io.tessera.executor.memory;

import io.tessera.device.CudaResult;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.quota.Countable;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxException;
import io.tessera.os.SharedMemoryPort;
import io.tessera.protocol.message.RelayPinned;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory that one client and the executor both map, at addresses in the host part of the tenant's window (RELAY.md,
 * section 6). {@link #create} may be called by any thread, the other methods by the client's owner thread;
 * thread-safe. {@link #close} gives back everything that is not registered with the device.
 */
public final class PinnedMemory implements AutoCloseable {
    private static final long PAGE = 4096;
    /** Bound on regions that are not registered yet, or no longer, so that a client cannot fill the host by requests alone. */
    private static final long MOST_BYTES = 1L << 40;
    private static final Logger LOG = LoggerFactory.getLogger(PinnedMemory.class);

    private final SharedMemoryPort memory;
    private final FilePort files;
    private final ClientAccount account;
    private final Consumer<String> notice;
    private final Map<Long, Region> regions = new HashMap<>();
    private volatile HostAddresses addresses;
    private long lastId;
    private boolean closed;
    private boolean told;

    /** A region. */
    public static final class Region {
        private final long address;
        private final long bytes;
        private final long roundedBytes;
        private final int descriptor;
        private Arena arena;

        private Region(long address, long bytes, long roundedBytes, int descriptor) {
            this.address = address;
            this.bytes = bytes;
            this.roundedBytes = roundedBytes;
            this.descriptor = descriptor;
        }

        /** Returns the address, which is the same for client, executor and device. */
        public long address() {
            return address;
        }

        /** Returns the bytes that the client maps. */
        public long bytes() {
            return bytes;
        }

        /** Returns the bytes that the device maps: whole granules. */
        public long roundedBytes() {
            return roundedBytes;
        }
    }

    /**
     * A region and what the client needs to map it.
     *
     * @param pinned     the answer
     * @param descriptor of the memory, which the caller closes; -1 where there is none
     */
    public record Offer(RelayPinned pinned, int descriptor) {
    }

    /**
     * Creates an instance without memory and addresses.
     *
     * @param notice receives a line for the program's user; called by any thread
     */
    public PinnedMemory(SharedMemoryPort memory, FilePort files, ClientAccount account, Consumer<String> notice) {
        this.account = account;
        this.notice = notice;
        this.memory = memory;
        this.files = files;
    }

    /** Sets the addresses of the client's window: from now on {@link #create} gives addresses of its host part. */
    public void use(HostAddresses ofWindow) {
        addresses = ofWindow;
    }

    /** Returns whether {@link #create} may be called. */
    public boolean isReady() {
        return addresses != null;
    }

    /** Makes a region. A failure is an ordinary case, for example if the host has no room: the answer then contains the reason. */
    public synchronized Offer create(long bytes, long notBelow) {
        try {
            return make(bytes, notBelow);
        } catch (LinuxException e) {
            LOG.warn("{} bytes of pinned memory cannot be made: {}", bytes, e.getMessage());
            return refused("the host gives no memory for it (" + e.getMessage() + ")", bytes);
        }
    }

    private Offer make(long bytes, long notBelow) throws LinuxException {
        if (closed) {
            return none();
        }
        if (bytes <= 0 || bytes > MOST_BYTES) {
            return bytes <= 0 ? refused(CudaResult.INVALID_VALUE) : refused("one allocation has " + (MOST_BYTES >> 20) + " MiB at most", bytes);
        }
        String refusal = account.refusal(Countable.PINNED);
        if (refusal != null) {
            LOG.warn("{} bytes of pinned memory are refused: {}", bytes, refusal);
            return refused(refusal, bytes);
        }
        long rounded = addresses.rounded(bytes);
        long address = addresses.take(rounded, notBelow);
        if (address == 0) {
            return refused("a tenant has addresses for " + (addresses.bytes() >> 20) + " MiB of it on this device, and "
                    + (addresses.takenBytes() >> 20) + " MiB of them are taken", bytes);
        }
        int descriptor = -1;
        boolean kept = false;
        try {
            descriptor = memory.create("tessera-pinned", rounded);
            // Reserves the space now, so that a full host leads to an answer here and not to a fault in the middle of a copy.
            if (files.reserve(descriptor, rounded) != 0) {
                return refused("the host has too little memory left", bytes);
            }
            long told = RelayLayout.align(bytes, PAGE);
            account.add(Countable.PINNED);
            regions.put(++lastId, new Region(address, told, rounded, memory.copy(descriptor)));
            kept = true;
            return new Offer(new RelayPinned(lastId, address, told, CudaResult.SUCCESS), descriptor);
        } finally {
            if (!kept) {
                addresses.give(address);
                if (descriptor >= 0) {
                    memory.close(descriptor);
                }
            }
        }
    }

    /** Returns the answer for a region without memory. */
    public static Offer none() {
        return refused(CudaResult.OUT_OF_MEMORY);
    }

    private static Offer refused(int result) {
        return new Offer(new RelayPinned(0, 0, 0, result), -1);
    }

    /** Refuses with OUT_OF_MEMORY; the first time the program gets the reason and advice. */
    private Offer refused(String why, long bytes) {
        if (!told) {
            told = true;
            notice.accept(bytes + " bytes of pinned memory are refused: " + why
                    + "; free pinned memory that is not needed (cudaFreeHost), or use pageable memory (malloc)");
        }
        return refused(CudaResult.OUT_OF_MEMORY);
    }

    /** Returns the region of a number; null if there is none. */
    public synchronized Region region(long id) {
        return regions.get(id);
    }

    /** Maps a region in this process, at its address, which its window has reserved. Returns false if the system refuses. */
    public synchronized boolean map(Region region) {
        Arena arena = Arena.ofShared();
        try {
            memory.mapOver(region.descriptor, region.address, region.roundedBytes, arena);
            region.arena = arena;
            return true;
        } catch (LinuxException e) {
            LOG.warn("pinned memory cannot be mapped: {}", e.getMessage());
            refused("the executor cannot map it (" + e.getMessage() + ")", region.roundedBytes);
        }
        arena.close();
        return false;
    }

    /** Unmaps a region in this process, after it was unregistered from the device. */
    public synchronized void unmap(Region region) {
        if (region.arena != null) {
            region.arena.close();
            region.arena = null;
        }
    }

    /** Forgets a region that is not mapped here. */
    public synchronized void remove(long id) {
        Region region = regions.remove(id);
        if (region != null) {
            end(region);
        }
    }

    private void end(Region region) {
        account.remove(Countable.PINNED);
        addresses.give(region.address);
        try {
            memory.close(region.descriptor);
        } catch (LinuxException e) {
            LOG.warn("while pinned memory was given back: {}", e.getMessage());
        }
    }

    /** Frees the regions. A region that is still mapped stays so, with its addresses: the device may use it. */
    @Override
    public synchronized void close() {
        closed = true;
        for (Iterator<Region> i = regions.values().iterator(); i.hasNext();) {
            Region region = i.next();
            if (region.arena == null) {
                i.remove();
                end(region);
            }
        }
    }
}
