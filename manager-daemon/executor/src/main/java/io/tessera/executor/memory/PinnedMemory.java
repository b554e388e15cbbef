package io.tessera.executor.memory;

import io.tessera.executor.driver.CudaResult;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxException;
import io.tessera.os.SharedMemoryPort;
import io.tessera.protocol.RelayPinned;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory that one client and the executor both map. {@link #create} is called by the thread of the connections, the rest
 * by the client's owner thread; thread-safe. {@link #close} unmaps everything.
 */
public final class PinnedMemory implements AutoCloseable {
    private static final long PAGE = 4096;
    private static final Logger LOG = LoggerFactory.getLogger(PinnedMemory.class);
    /** Regions that are mapped and not registered yet or any more: a client cannot fill the host by asking alone. */
    private static final int MOST_REGIONS = 65_536;
    private static final long MOST_BYTES = 1L << 40;

    private final SharedMemoryPort memory;
    private final FilePort files;
    private final PinnedAddresses addresses;
    private final Map<Long, Region> regions = new HashMap<>();
    private long lastId;

    /**
     * A region.
     *
     * @param mapped where
     * @param arena  its closing unmaps it
     */
    public record Region(MemorySegment mapped, Arena arena) {
    }

    /**
     * A region and what the client needs to map it.
     *
     * @param pinned     the answer
     * @param descriptor of the memory, which the caller closes; -1 where there is none
     */
    public record Offer(RelayPinned pinned, int descriptor) {
    }

    /** Nothing yet. */
    public PinnedMemory(SharedMemoryPort memory, FilePort files, PinnedAddresses addresses) {
        this.memory = memory;
        this.files = files;
        this.addresses = addresses;
    }

    /** Makes a region, or says why not in the answer: a host without room for it is an ordinary case. */
    public synchronized Offer create(long bytes, long notBelow) {
        try {
            return make(bytes, notBelow);
        } catch (LinuxException e) {
            LOG.warn("{} bytes of pinned memory cannot be made: {}", bytes, e.getMessage());
            return refused(CudaResult.OUT_OF_MEMORY);
        }
    }

    private Offer make(long bytes, long notBelow) throws LinuxException {
        if (bytes <= 0 || bytes > MOST_BYTES || regions.size() >= MOST_REGIONS) {
            return refused(bytes <= 0 ? CudaResult.INVALID_VALUE : CudaResult.OUT_OF_MEMORY);
        }
        long rounded = RelayLayout.align(bytes, PAGE);
        int descriptor = memory.create("tessera-pinned", rounded);
        Arena arena = Arena.ofShared();
        boolean kept = false;
        try {
            // Space now: a full host is an answer here and not a fault in the middle of a copy.
            if (files.reserve(descriptor, rounded) != 0) {
                return refused(CudaResult.OUT_OF_MEMORY);
            }
            MemorySegment mapped = addresses.map(descriptor, rounded, notBelow, arena);
            if (mapped.equals(SharedMemoryPort.TAKEN)) {
                return refused(CudaResult.OUT_OF_MEMORY);
            }
            regions.put(++lastId, new Region(mapped, arena));
            kept = true;
            return new Offer(new RelayPinned(lastId, mapped.address(), rounded, CudaResult.SUCCESS), descriptor);
        } finally {
            if (!kept) {
                arena.close();
                memory.close(descriptor);
            }
        }
    }

    private static Offer refused(int result) {
        return new Offer(new RelayPinned(0, 0, 0, result), -1);
    }

    /** The region of a number; null if there is none. */
    public synchronized Region region(long id) {
        return regions.get(id);
    }

    /** Unmaps a region, after the device has forgotten it. */
    public synchronized void remove(long id) {
        Region region = regions.remove(id);
        if (region != null) {
            region.arena().close();
        }
    }

    @Override
    public synchronized void close() {
        regions.values().forEach(region -> region.arena().close());
        regions.clear();
    }
}
