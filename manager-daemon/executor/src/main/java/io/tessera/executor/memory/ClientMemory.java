package io.tessera.executor.memory;

import io.tessera.executor.memory.MemoryRange.Origin;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.quota.Countable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The live memory of one client by address. Reserved ranges contain mapped ones, so they are in a map of their own. One owner
 * thread.
 */
public final class ClientMemory {
    private final TreeMap<Long, MemoryRange> ranges = new TreeMap<>(Long::compareUnsigned);
    private final TreeMap<Long, MemoryRange> reserved = new TreeMap<>(Long::compareUnsigned);
    /** Variables that were requested, by their module or library, so that the cost of its end depends only on its own variables. */
    private final Map<Long, List<MemoryRange>> variables = new HashMap<>();
    private final ClientAccount account;
    private MemoryRange last;

    private boolean exported;

    /** Creates an empty map for a client that is alone in its tenant. */
    public ClientMemory() {
        this(ClientAccount.ofItsOwn());
    }

    /** Creates an empty map; its entries count in an account. */
    public ClientMemory(ClientAccount account) {
        this.account = account;
    }

    /** Adds a range. */
    public void add(MemoryRange range) {
        MemoryRange before = (range.origin() == Origin.RESERVED ? reserved : ranges).put(range.address(), range);
        if (before == null) {
            account.add(Countable.MEMORY_RANGE);
        }
        if (range.owner() != 0 && (before == null || before.owner() != range.owner())) {
            variables.computeIfAbsent(range.owner(), _ -> new ArrayList<>()).add(range);
        }
    }

    /** Records that another client may read and write memory of this one from now on. */
    public void exported() {
        exported = true;
    }

    /** Returns whether another client may have read and written memory of this one. */
    public boolean isExported() {
        return exported;
    }

    /** Returns the range that begins at an address, except reserved ones. */
    public Optional<MemoryRange> beginningAt(long address) {
        return Optional.ofNullable(ranges.get(address));
    }

    /** Returns the reserved range that holds this many bytes from an address. */
    public Optional<MemoryRange> reservation(long address, long bytes) {
        Map.Entry<Long, MemoryRange> entry = reserved.floorEntry(address);
        return entry != null && holds(entry.getValue(), address, bytes) ? Optional.of(entry.getValue())
                : Optional.empty();
    }

    /** Returns whether this many bytes from an address are the client's; adjacent mappings count as one. */
    public boolean contains(long address, long bytes) {
        MemoryRange recent = last;
        if (recent != null && holds(recent, address, bytes)) {
            return true;
        }
        long at = address;
        long left = bytes;
        while (true) {
            Map.Entry<Long, MemoryRange> entry = ranges.floorEntry(at);
            if (entry == null || Long.compareUnsigned(at, entry.getValue().end()) >= 0 || left < 0) {
                return false;
            }
            MemoryRange range = entry.getValue();
            if (range.origin() == Origin.SHUT) {
                return false;
            }
            long here = range.end() - at;
            if (Long.compareUnsigned(left, here) <= 0) {
                last = range;
                return true;
            }
            if (range.origin() != Origin.MAPPED) {
                return false;
            }
            at += here;
            left -= here;
        }
    }

    /** Returns the range that contains an address, except reserved ones. */
    public Optional<MemoryRange> containing(long address) {
        return Optional.ofNullable(ranges.floorEntry(address)).map(Map.Entry::getValue).filter(range -> holds(range, address, 1));
    }

    /** Describes the client's memory next to an address, for the message about a refused address. */
    public String around(long address) {
        Map.Entry<Long, MemoryRange> entry = ranges.floorEntry(address);
        return entry == null ? "it has none below" : "the next below is " + Long.toHexString(entry.getKey()) + " to "
                + Long.toHexString(entry.getValue().end());
    }

    private static boolean holds(MemoryRange range, long address, long bytes) {
        long offset = address - range.address();
        return Long.compareUnsigned(offset, range.bytes()) < 0
                && Long.compareUnsigned(bytes, range.bytes() - offset) <= 0;
    }

    /** Forgets the range that begins at an address. */
    public void remove(MemoryRange range) {
        last = null;
        if ((range.origin() == Origin.RESERVED ? reserved : ranges).remove(range.address()) != null) {
            account.remove(Countable.MEMORY_RANGE);
        }
    }

    /** Forgets the variables of a module or library. */
    public void removeOwnedBy(long owner) {
        List<MemoryRange> owned = variables.remove(owner);
        for (MemoryRange variable : owned == null ? List.<MemoryRange>of() : owned) {
            MemoryRange there = ranges.get(variable.address());
            if (there != null && there.owner() == owner) {
                remove(there);
            }
        }
    }

    /** Returns the mappings in this many bytes from an address, in order. */
    public List<MemoryRange> mappedIn(long address, long bytes) {
        List<MemoryRange> found = new ArrayList<>();
        for (MemoryRange range : ranges.tailMap(address, true).values()) {
            if (Long.compareUnsigned(range.end(), address + bytes) > 0 || range.origin() != Origin.MAPPED && range.origin() != Origin.SHUT) {
                break;
            }
            found.add(range);
        }
        return found;
    }

    /** Returns all ranges of a context, or of all contexts for a number below 0; reserved ones last. */
    public List<MemoryRange> ofContext(int context) {
        List<MemoryRange> found = new ArrayList<>();
        for (MemoryRange range : ranges.values()) {
            if (context < 0 || range.context() == context) {
                found.add(range);
            }
        }
        for (MemoryRange range : reserved.values()) {
            if (context < 0 || range.context() == context) {
                found.add(range);
            }
        }
        return found;
    }
}
