package io.tessera.executor.pool;

import io.tessera.device.CudaEnums.PoolAttribute;
import io.tessera.executor.stream.ProgressEvents;
import io.tessera.executor.window.WindowAccess;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A pool of stream-ordered allocations of one client. A block that was freed in a stream may be used again at once for work of that stream. It is used for
 * other streams, or given back to the window, only when an event that was recorded after the free is complete. Then it stays as long as the pool has no more
 * than its release threshold. One owner thread.
 */
public final class MemoryPool {
    /** The last number of an attribute. */
    public static final int LAST_ATTRIBUTE = PoolAttribute.USED_MEM_HIGH;
    /** A block may exceed the requested size by this part of it, as a divisor. */
    private static final int WASTE_SHARE = 8;
    private static final long ALIGNMENT = 512;

    private final long number;
    private final long mostBytes;
    private final WindowAccess window;
    private final ProgressEvents events;
    private final long[] flags = {0, 1, 1, 1};
    /** Freed blocks by the stream in which they were freed. */
    private final Map<Long, FreedInStream> freed = new HashMap<>();
    private final Blocks idle = new Blocks();
    private long threshold;
    private long reserved;
    private long reservedHigh;
    private long used;
    private long usedHigh;
    private boolean destroyed;

    /**
     * Memory of the pool.
     *
     * @param address its start
     * @param bytes   its size, rounded
     * @param pool    the pool to which it returns when it is freed
     */
    public record Block(long address, long bytes, MemoryPool pool) {
    }

    /** Blocks by size; of equal ones, the most recent is taken first. */
    private static final class Blocks {
        final TreeMap<Long, ArrayDeque<Block>> bySize = new TreeMap<>();

        void add(Block block) {
            bySize.computeIfAbsent(block.bytes, _ -> new ArrayDeque<>()).push(block);
        }

        Block take(long bytes) {
            Map.Entry<Long, ArrayDeque<Block>> entry = bySize.ceilingEntry(bytes);
            if (entry == null || entry.getKey() - bytes > bytes / WASTE_SHARE) {
                return null;
            }
            return pop(entry);
        }

        Block largest() {
            Map.Entry<Long, ArrayDeque<Block>> entry = bySize.lastEntry();
            return entry == null ? null : pop(entry);
        }

        private Block pop(Map.Entry<Long, ArrayDeque<Block>> entry) {
            Block block = entry.getValue().pop();
            if (entry.getValue().isEmpty()) {
                bySize.remove(entry.getKey());
            }
            return block;
        }
    }

    /** Blocks that were freed in one stream: those since the last event, and those before each event. */
    private static final class FreedInStream {
        final List<Sealed> sealed = new ArrayList<>();
        Blocks open = new Blocks();

        boolean isEmpty() {
            return sealed.isEmpty() && open.bySize.isEmpty();
        }
    }

    private record Sealed(long event, Blocks blocks) {
    }

    /**
     * Creates a pool without blocks.
     *
     * @param number    by which the client's handle finds it
     * @param mostBytes limit of its own; 0: none
     */
    MemoryPool(long number, long mostBytes, WindowAccess window, ProgressEvents events) {
        this.number = number;
        this.mostBytes = mostBytes;
        this.window = window;
        this.events = events;
    }

    /** Returns its value in the client's table of handles. */
    public long number() {
        return number;
    }

    /** Allocates a block for work of a stream; null: there is no memory. */
    Block allocate(long bytes, long stream) {
        long rounded = bytes + ALIGNMENT - 1 & -ALIGNMENT;
        if (destroyed || rounded < 0 || mostBytes != 0 && rounded > mostBytes - used) {
            return null;
        }
        Block block = again(rounded, stream);
        if (block == null) {
            block = fresh(rounded);
        }
        if (block != null) {
            used += block.bytes;
            usedHigh = Math.max(usedHigh, used);
        }
        return block;
    }

    private Block again(long rounded, long stream) {
        FreedInStream own = freed.get(stream);
        if (own != null) {
            Block block = own.open.take(rounded);
            for (int i = own.sealed.size() - 1; i >= 0 && block == null; i--) {
                block = own.sealed.get(i).blocks.take(rounded);
            }
            if (block != null) {
                return block;
            }
        }
        return idle.take(rounded);
    }

    private Block fresh(long rounded) {
        if (mostBytes != 0 && reserved + rounded > mostBytes) {
            sweep(false);
            trim(Math.max(0, mostBytes - rounded));
            if (reserved + rounded > mostBytes) {
                return null;
            }
        }
        long address = window.allocate(rounded, ALIGNMENT);
        if (address == 0) {
            return null;
        }
        reserved += rounded;
        reservedHigh = Math.max(reservedHigh, reserved);
        return new Block(address, rounded, this);
    }

    /** Frees a block in the order of a stream. */
    void free(Block block, long stream) {
        used -= block.bytes;
        freed.computeIfAbsent(stream, _ -> new FreedInStream()).open.add(block);
    }

    /** Removes a block from the pool; the caller gives its memory back. */
    void forget(Block block) {
        used -= block.bytes;
        reserved -= block.bytes;
    }

    /** Records an event behind the blocks that were freed in a stream; done before the stream ends. */
    void seal(long stream) {
        FreedInStream own = freed.get(stream);
        if (own != null && !own.open.bySize.isEmpty()) {
            long event = events.record(stream);
            if (event != ProgressEvents.NONE) {
                own.sealed.add(new Sealed(event, own.open));
                own.open = new Blocks();
            }
        }
    }

    /** Records that a stream has ended: no block is freed in it any more, and a new stream may get its handle. */
    void gone(long stream, boolean mayRecord) {
        if (mayRecord) {
            seal(stream);
        }
        FreedInStream own = freed.remove(stream);
        if (own != null) {
            // Kept under a number that no stream has, so that the blocks become free only by their events.
            freed.merge(0L, own, (old, more) -> {
                old.sealed.addAll(more.sealed);
                more.open.bySize.values().forEach(list -> list.forEach(old.open::add));
                return old;
            });
        }
    }

    /**
     * Checks which freed blocks are no longer used by any work, and gives back memory beyond the pool's threshold.
     *
     * @param mayRecord whether events may be recorded: not while a stream is captured, which would capture them
     * @return whether some are still in use
     */
    boolean sweep(boolean mayRecord) {
        for (Long stream : List.copyOf(freed.keySet())) {
            if (stream != 0 && mayRecord) {
                seal(stream);
            }
        }
        boolean left = false;
        for (Iterator<FreedInStream> i = freed.values().iterator(); i.hasNext();) {
            FreedInStream own = i.next();
            complete(own);
            if (own.isEmpty()) {
                i.remove();
            } else {
                left = true;
            }
        }
        trim(threshold);
        return left;
    }

    private void complete(FreedInStream own) {
        for (Iterator<Sealed> i = own.sealed.iterator(); i.hasNext();) {
            Sealed sealed = i.next();
            if (events.query(sealed.event) == 0) {
                sealed.blocks.bySize.values().forEach(list -> list.forEach(idle::add));
                events.giveBack(sealed.event);
                i.remove();
            }
        }
    }

    /** Gives complete blocks back to the window until this many bytes are left of what the pool has. */
    void trim(long keepBytes) {
        while (Long.compareUnsigned(reserved, keepBytes) > 0) {
            Block block = idle.largest();
            if (block == null) {
                return;
            }
            reserved -= block.bytes;
            window.free(block.address);
        }
    }

    /** Returns whether freed blocks wait for work to end. */
    boolean hasFreed() {
        return !freed.isEmpty();
    }

    /** Destroys the pool: allocations stay until they are freed. */
    void destroy() {
        destroyed = true;
        threshold = 0;
        sweep(false);
    }

    /** Returns whether it is destroyed and has no memory any more. */
    boolean isOver() {
        return destroyed && reserved == 0;
    }

    /** Gives every freed block back. All work of the client is done. */
    void releaseAll() {
        for (FreedInStream own : freed.values()) {
            own.sealed.forEach(sealed -> {
                events.giveBack(sealed.event);
                sealed.blocks.bySize.values().forEach(list -> list.forEach(idle::add));
            });
            own.open.bySize.values().forEach(list -> list.forEach(idle::add));
        }
        freed.clear();
        trim(0);
    }

    /** Returns whether an attribute is 32 bits wide in the interface; the others are 64. */
    public static boolean isFlag(int attribute) {
        return attribute >= PoolAttribute.REUSE_FOLLOW_EVENT_DEPENDENCIES && attribute < PoolAttribute.RELEASE_THRESHOLD;
    }

    /** Returns the value of an attribute, 1 to {@value #LAST_ATTRIBUTE}. */
    public long attribute(int attribute) {
        return switch (attribute) {
            case PoolAttribute.REUSE_FOLLOW_EVENT_DEPENDENCIES, PoolAttribute.REUSE_ALLOW_OPPORTUNISTIC,
                    PoolAttribute.REUSE_ALLOW_INTERNAL_DEPENDENCIES ->
                flags[attribute];
            case PoolAttribute.RELEASE_THRESHOLD -> threshold;
            case PoolAttribute.RESERVED_MEM_CURRENT -> reserved;
            case PoolAttribute.RESERVED_MEM_HIGH -> reservedHigh;
            case PoolAttribute.USED_MEM_CURRENT -> used;
            case PoolAttribute.USED_MEM_HIGH -> usedHigh;
            default -> throw new IllegalArgumentException("no attribute " + attribute);
        };
    }

    /** Sets an attribute; returns false if it cannot have that value. High-water marks can only be set to 0. */
    public boolean attribute(int attribute, long value) {
        switch (attribute) {
            case PoolAttribute.REUSE_FOLLOW_EVENT_DEPENDENCIES, PoolAttribute.REUSE_ALLOW_OPPORTUNISTIC,
                    PoolAttribute.REUSE_ALLOW_INTERNAL_DEPENDENCIES ->
                flags[attribute] = value == 0 ? 0 : 1;
            case PoolAttribute.RELEASE_THRESHOLD -> threshold = value;
            case PoolAttribute.RESERVED_MEM_HIGH, PoolAttribute.USED_MEM_HIGH -> {
                if (value != 0) {
                    return false;
                }
                reservedHigh = attribute == PoolAttribute.RESERVED_MEM_HIGH ? reserved : reservedHigh;
                usedHigh = attribute == PoolAttribute.USED_MEM_HIGH ? used : usedHigh;
            }
            default -> {
                return false;
            }
        }
        return true;
    }
}
