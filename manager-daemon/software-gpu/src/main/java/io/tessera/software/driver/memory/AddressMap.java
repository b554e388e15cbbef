package io.tessera.software.driver.memory;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** Maps addresses to allocations. Ranges never overlap. Thread-safe. */
public final class AddressMap {
    private final ConcurrentSkipListMap<Long, AddressRange> byAddress = new ConcurrentSkipListMap<>();
    private final AtomicLong nextId = new AtomicLong(1);

    /** Creates a range that is not in the map until {@link #add}. */
    public AddressRange describe(long address, long bytes, AddressRange.Kind kind, long context, int flags) {
        return new AddressRange(address, bytes, kind, context, flags, nextId.getAndIncrement());
    }

    /** Makes a range known. */
    public synchronized void add(AddressRange allocation, CudaError ifTaken) {
        Map.Entry<Long, AddressRange> below = byAddress.lowerEntry(allocation.end());
        DriverException.require(below == null || below.getValue().end() <= allocation.address(), ifTaken);
        byAddress.put(allocation.address(), allocation);
    }

    /** Forgets the range that begins exactly here; null if there is none. */
    public AddressRange remove(long address) {
        return byAddress.remove(address);
    }

    /** Returns the range that begins exactly here, null if there is none. */
    public AddressRange at(long address) {
        return byAddress.get(address);
    }

    /** Returns the range that an address lies in, null if there is none. */
    public AddressRange containing(long address) {
        Map.Entry<Long, AddressRange> below = byAddress.floorEntry(address);
        return below != null && address < below.getValue().end() ? below.getValue() : null;
    }

    /** Returns whether all of a stretch is known; neighbours that were mapped side by side count as one. */
    public boolean covers(long address, long bytes) {
        long at = address;
        long end = address + bytes;
        if (bytes < 0 || end < address) {
            return false;
        }
        do {
            AddressRange part = containing(at);
            if (part == null) {
                return false;
            }
            at = part.end();
        } while (at < end);
        return true;
    }

    /** Returns all current ranges. */
    public Collection<AddressRange> all() {
        return byAddress.values();
    }
}
