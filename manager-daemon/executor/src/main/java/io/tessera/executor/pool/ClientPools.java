package io.tessera.executor.pool;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.pool.MemoryPool.Block;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.executor.window.WindowAccess;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * The pools of one client, their allocations, and freed memory that waits for work to end. Memory never moves from one client's
 * pools to another's. One owner thread.
 */
public final class ClientPools {
    /** Interval of queries for work on which freed memory waits. */
    private static final long INTERVAL_NS = 2_000_000L;

    private final WindowAccess window;
    private final ClientStreams streams;
    private final NanoClock clock;
    private BooleanSupplier goOn = () -> true;
    private final RetiredMemory retired;
    private final Map<Long, MemoryPool> pools = new HashMap<>();
    private final List<MemoryPool> ended = new ArrayList<>();
    private final Map<Long, Block> inUse = new HashMap<>();
    private long lastNumber;
    private long nextNs;

    /** Creates an instance without pools. */
    public ClientPools(WindowAccess window, ClientStreams streams, NanoClock clock) {
        this.window = window;
        this.streams = streams;
        this.clock = clock;
        this.retired = new RetiredMemory(window, streams.progress());
        streams.beforeEnd(stream -> pools().forEach(pool -> pool.gone(stream, mayRecord())));
    }

    private List<MemoryPool> pools() {
        List<MemoryPool> all = new ArrayList<>(pools.values());
        all.addAll(ended);
        return all;
    }

    /** Makes a pool with a limit of its own; 0: none. */
    public MemoryPool create(long mostBytes) {
        MemoryPool pool = new MemoryPool(++lastNumber, mostBytes, window, streams.progress());
        pools.put(pool.number(), pool);
        return pool;
    }

    /** Returns the pool of a number; null if there is none any more. */
    public MemoryPool pool(long number) {
        return pools.get(number);
    }

    /** Ends a pool. */
    public void destroy(MemoryPool pool) {
        if (pools.remove(pool.number()) != null) {
            pool.destroy();
            if (!pool.isOver()) {
                ended.add(pool);
            }
        }
    }

    /** Sets the test whether to continue while an allocation waits for work to end; the test also supervises the client meanwhile. */
    public void whileWaiting(BooleanSupplier asked) {
        goOn = asked;
    }

    /**
     * Allocates in stream order.
     *
     * @return the address; 0: there is no memory
     */
    public long allocate(MemoryPool pool, long bytes, long stream) {
        Block block = pool.allocate(bytes, stream);
        if (block == null && reclaim()) {
            block = pool.allocate(bytes, stream);
        }
        if (block == null) {
            Block[] found = new Block[1];
            waitForFrees(() -> (found[0] = pool.allocate(bytes, stream)) != null);
            block = found[0];
        }
        if (block == null) {
            return 0;
        }
        inUse.put(block.address(), block);
        return block.address();
    }

    /** Allocates without a pool, from the window. Returns the address; 0: there is no memory. */
    public long allocate(long bytes) {
        long address = window.allocate(bytes, 1);
        if (address == 0 && reclaim()) {
            address = window.allocate(bytes, 1);
        }
        if (address == 0) {
            long[] found = new long[1];
            waitForFrees(() -> (found[0] = window.allocate(bytes, 1)) != 0);
            address = found[0];
        }
        return address;
    }

    /** Repeats an attempt while streams may give memory back. */
    private void waitForFrees(BooleanSupplier attempt) {
        BoundedWait wait = BoundedWait.begin(clock, WaitLimit.STREAM_FREES);
        window.waitsWithin(wait);
        try {
            boolean done = false;
            while (!done && isWaiting() && goOn.getAsBoolean() && !wait.isOver()) {
                wait.pause();
                reclaim();
                done = attempt.getAsBoolean();
            }
        } finally {
            window.waitsWithin(null);
        }
    }

    /** Gives back unused memory of the pools. Returns whether any pool or freed memory was checked. */
    private boolean reclaim() {
        boolean any = !retired.isEmpty();
        retired.poll();
        for (MemoryPool pool : pools()) {
            any |= pool.hasFreed() || pool.attribute(5) > pool.attribute(7);
            pool.sweep(mayRecord());
            pool.trim(0);
        }
        return any;
    }

    private boolean mayRecord() {
        return !streams.isAnyCapturing();
    }

    private boolean isWaiting() {
        return !retired.isEmpty() || pools().stream().anyMatch(MemoryPool::hasFreed);
    }

    /** Frees in the order of a stream. */
    public void free(long address, long stream) {
        Block block = inUse.remove(address);
        if (block != null) {
            block.pool().free(block, stream);
        } else {
            retired.after(address, List.of(stream));
        }
    }

    /**
     * Frees memory when all work that the client has submitted so far is done.
     *
     * @return whether it was freed at once
     */
    public boolean free(long address) {
        Block block = inUse.remove(address);
        if (block != null) {
            block.pool().forget(block);
        }
        if (streams.query() == CudaResult.SUCCESS) {
            window.free(address);
            return true;
        }
        retired.after(address, streams.joinAll());
        return false;
    }

    /** Has a pool give memory back until this many bytes are left. */
    public void trim(MemoryPool pool, long keepBytes) {
        pool.sweep(mayRecord());
        pool.trim(keepBytes);
    }

    /** Returns whether memory waits for work to end. */
    public boolean isAwaited() {
        return isWaiting();
    }

    /** Checks freed memory if that is due; cheap otherwise. */
    public void poll(long nowNs) {
        if (nowNs - nextNs < 0) {
            return;
        }
        nextNs = nowNs + INTERVAL_NS;
        if (!isWaiting()) {
            return;
        }
        retired.poll();
        boolean mayRecord = mayRecord();
        pools().forEach(pool -> pool.sweep(mayRecord));
        ended.removeIf(MemoryPool::isOver);
    }

    /** Gives everything back. All work of the client is done and its allocations are freed. */
    public void close() {
        retired.releaseAll();
        pools().forEach(MemoryPool::releaseAll);
        pools.clear();
        ended.clear();
    }
}
