package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.swap.ContentKernel;
import io.tessera.executor.swap.DeviceSwap;
import io.tessera.executor.swap.HandedPieces;
import io.tessera.executor.swap.HostFrames;
import io.tessera.executor.swap.ResidencyTurns;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.guardian.heap.HeapStatistics;
import io.tessera.guardian.window.PlacementAnswer;
import io.tessera.guardian.window.WindowLayout;
import io.tessera.guardian.window.WindowPlace;
import io.tessera.guardian.window.WindowSpace;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The windows of all tenants of one device: one for each that has clients. Thread-safe; windows are opened and closed by
 * the threads of their clients, one at a time.
 */
public final class TenantWindows {
    /** Maximum number of places that are tried where the driver or the system occupies some. */
    private static final int MOST_PLACES = 64;
    /** If a driver's sinks repeat, the size of pieces is chosen so that all memory of the device has about this many mappings. */
    private static final long MOST_SLOTS = 4_096;
    /**
     * The part of the device's memory that is left for the driver: 1.2 GiB of 80. A worker's context takes half a GiB on an H100, PyTorch's
     * kernels for two servers 0.2.
     */
    private static final long RESERVED_PART = 64;
    private static final Logger LOG = LoggerFactory.getLogger(TenantWindows.class);

    private final DeviceContext device;
    private final long totalBytes;
    private final NanoClock clock;
    private final DriverPages driverPages;
    private final WindowSpace space;
    private final SinkKernel sinkKernel = new SinkKernel();
    private final MemoryPressureRetry pressure;
    private final PendingReclaims reclaims;
    private final DeviceSwap swap;
    private final Map<String, Shared> windows = new HashMap<>();
    /** As above, for callers that must not wait: a thread that closes a window may be blocked by a kernel that only other threads can end. */
    private volatile Map<String, TenantWindow> open = Map.of();
    /** As above, for launches, which must not allocate an iterator. */
    private volatile TenantWindow[] all = {};

    /** A window and how many clients it has. */
    private static final class Shared {
        final TenantWindow window;
        int clients;

        Shared(TenantWindow window) {
            this.window = window;
        }
    }

    /**
     * Figures of a window for the status.
     *
     * @param tenant          its label
     * @param baseAddress     of the window
     * @param sizeBytes       of the window
     * @param devicePartBytes of the window, from its base on, for device memory
     * @param committedBytes  of physical memory, without the sink
     * @param quotaBytes      0: none
     * @param sinkBytes       of physical memory behind everything else; 0: no sink yet
     * @param allocatedBytes  in the sizes that were requested
     * @param awayBytes       committed memory that is not on the device now
     * @param copiedBytes     to the host so far, when memory left the device
     * @param sparedBytes     that have left so far without a copy: they were zero, or had not changed
     */
    public record Bounds(String tenant, long baseAddress, long sizeBytes, long devicePartBytes, long committedBytes,
            long quotaBytes, long sinkBytes, long allocatedBytes, long awayBytes, long copiedBytes, long sparedBytes) {
    }

    /**
     * Creates an instance without windows.
     *
     * @param totalBytes of the device's memory
     * @param space      where windows may lie
     * @param host       for memory that leaves the device
     */
    public TenantWindows(DeviceContext device, long totalBytes, NanoClock clock, WindowSpace space, HostFrames host) {
        this.device = device;
        this.totalBytes = totalBytes;
        this.clock = clock;
        this.driverPages = new DriverPages(device.device());
        this.space = space;
        this.pressure = new MemoryPressureRetry(clock, this::relieve);
        this.reclaims = new PendingReclaims(clock, pressure);
        this.swap = new DeviceSwap(new ContentKernel(), host, new ResidencyTurns(this::wakeAll), new HandedPieces(), totalBytes / RESERVED_PART);
    }

    private void wakeAll() {
        for (TenantWindow window : all) {
            window.wakeClients();
        }
    }

    /**
     * Makes a tenant's memory leave the device, until the tenant's next call. Any thread. Returns whether there is such a tenant.
     */
    public boolean park(String tenant) {
        TenantWindow window = open.get(tenant);
        if (window != null) {
            window.residency().park();
        }
        return window != null;
    }

    /** Makes a tenant's memory come back without a call of the tenant. Any thread. */
    public void recall(String tenant) {
        TenantWindow window = open.get(tenant);
        if (window != null) {
            window.residency().recall();
            window.wakeClients();
        }
    }

    /** Returns whether a tenant lacks memory, or was ordered to leave. */
    boolean isRoomWanted() {
        return swap.turns().isAsked();
    }

    /** Returns the clients whose memory will be free soon. */
    PendingReclaims reclaims() {
        return reclaims;
    }

    /** Returns whether an address lies where a window other than the given one has or had memory; any thread. */
    boolean isAnothers(TenantWindow own, long address) {
        for (TenantWindow window : all) {
            if (window != own && address >= window.place().baseAddress() && address < window.reachedAddress()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Result of joining.
     *
     * @param result     CUresult
     * @param refusal    why the result is not SUCCESS, for the program's user; else empty
     * @param window     null unless SUCCESS
     * @param lacksBytes missing device memory; 0: that is not the reason
     */
    record Joined(int result, String refusal, TenantWindow window, long lacksBytes) {
    }

    /**
     * Joins a client to its tenant's window, which is made for the first client. If there is no memory, waits for a bounded time until others have made room.
     */
    Joined join(String tenant, TenantMemory account, WindowClient client) {
        Joined joined = tryJoin(tenant, account, client);
        if (joined.lacksBytes > 0) {
            joined = joinWithRoom(tenant, account, client, joined);
        }
        if (joined.result != CudaResult.SUCCESS) {
            LOG.error("tenant \"{}\" has no window: CUDA error {}; {}", tenant, joined.result, joined.refusal);
        }
        return joined;
    }

    private Joined joinWithRoom(String tenant, TenantMemory account, WindowClient client, Joined refused) {
        ResidencyTurns turns = swap.turns();
        ResidencyTurns.Party newcomer = turns.join(clock.nanoTime());
        try {
            Joined joined = refused;
            boolean hopeless = false;
            while (joined.lacksBytes > 0 && client.goesOn() && !hopeless) {
                if (turns.stand(newcomer, clock.nanoTime())) {
                    hopeless = turns.isHopeless(newcomer, clock.nanoTime()); // asked before the last try: the others may have left just now
                    turns.lacks(newcomer, joined.lacksBytes);
                    joined = tryJoin(tenant, account, client);
                }
                BoundedWait.begin(clock, WaitLimit.ROOM).pause();
            }
            return joined;
        } finally {
            turns.leave(newcomer, clock.nanoTime());
        }
    }

    private synchronized Joined tryJoin(String tenant, TenantMemory account, WindowClient client) {
        Shared shared = windows.get(tenant);
        if (shared == null) {
            Opening opening = new Opening(client.driver());
            int result = opening.open(account);
            if (result != CudaResult.SUCCESS) {
                return new Joined(result, opening.refusal, null, opening.lacksBytes);
            }
            shared = new Shared(opening.window);
            windows.put(tenant, shared);
            show();
            LOG.info("tenant \"{}\" has the window 0x{}, {} GiB", tenant,
                    Long.toHexString(opening.window.place().baseAddress()), opening.window.place().sizeBytes() >> 30);
        }
        if (windows.size() == 1 && !device.port().software()) {
            swap.kernel().load(client.driver()); // later it would wait for others' streams
        }
        shared.clients++;
        client.joined(shared.window.gate().pass());
        shared.window.join(client);
        return new Joined(CudaResult.SUCCESS, "", shared.window, 0);
    }

    synchronized int left(String tenant, DriverCalls driver) {
        Shared shared = windows.get(tenant);
        if (--shared.clients > 0) {
            return CudaResult.SUCCESS;
        }
        windows.remove(tenant);
        show();
        int result = shared.window.close(driver);
        if (result == CudaResult.SUCCESS && !shared.window.hasLeftBehind()) {
            space.free(shared.window.place());
        } else { // memory may still be mapped there, so no other client gets the addresses
            space.abandon(shared.window.place());
            LOG.error("the window of tenant \"{}\" is not all given back: CUDA error {}", tenant, result);
        }
        if (windows.isEmpty()) {
            int ended = swap.host().release(driver);
            result = result == CudaResult.SUCCESS ? ended : result;
        }
        return result;
    }

    /** Reserves a window, at another place where the first one is not available. */
    private final class Opening {
        final DriverCalls driver;
        TenantWindow window;
        long lacksBytes;
        String refusal = "the driver does not say how large memory is mapped";

        Opening(DriverCalls driver) {
            this.driver = driver;
        }

        int open(TenantMemory account) {
            int result = driverPages.granularity(driver);
            if (result != CudaResult.SUCCESS) {
                return result;
            }
            long granule = driver.outLong(0);
            // Twice its limit, because a limit may grow while the tenant runs.
            long limit = account.limitBytes();
            long wanted = limit == 0 || limit > totalBytes / 2 ? totalBytes : 2 * limit;
            boolean repeats = device.port().hasSinks();
            WindowLayout layout = repeats ? WindowLayout.withSlots(wanted, true, granule, totalBytes / MOST_SLOTS)
                    : WindowLayout.holding(wanted, true, granule);
            for (int i = 0; i < MOST_PLACES; i++) {
                if (!(space.allocate(layout.sizeBytes()) instanceof PlacementAnswer.Placed placed)) {
                    return refused(CudaResult.OUT_OF_MEMORY, "no addresses are left for a window of "
                            + (layout.sizeBytes() >> 30) + " GiB with its guards");
                }
                FreshMemory fresh = new FreshMemory(driverPages, layout.slotBytes(), clock, pressure);
                WindowPages pages = new WindowPages(driverPages, fresh, layout.slotBytes(), granule, repeats);
                result = pages.reserve(driver, placed.place().lowerGuardAddress(),
                        placed.place().endOfUpperGuard() - placed.place().lowerGuardAddress());
                if (result == CudaResult.SUCCESS) {
                    result = pages.prepare(driver);
                    if (result != CudaResult.SUCCESS) {
                        fresh.close(driver);
                        pages.close(driver);
                        space.free(placed.place());
                        lacksBytes = result == CudaResult.OUT_OF_MEMORY ? 2 * layout.slotBytes() : 0;
                        return refused(result, "the device has no memory left for it");
                    }
                    SinkChecks checks = new SinkChecks(driverPages, sinkKernel, clock);
                    pages.prepare(driver, checks);
                    window = new TenantWindow(placed.place(), layout, new TenantWindow.Parts(driverPages, pages, fresh, checks), swap, clock,
                            account::limitBytes);
                    return result;
                }
                pages.close(driver);
                space.abandon(placed.place());
            }
            return refused(result, "the driver gives no addresses for it");
        }

        private int refused(int result, String reason) {
            refusal = "this device has " + windows.size() + " tenants, and another one gets no window: " + reason
                    + "; end programs of other tenants, use one --name for several programs, or run this one with --share time";
            return result;
        }
    }

    /** Asks other tenants to give back unused memory, because a tenant finds none. Returns whether they have any. */
    private boolean relieve() {
        boolean any = false;
        for (TenantWindow window : all) {
            window.wantTrim();
            any |= window.isTrimWanted();
        }
        return any;
    }

    private void show() {
        Map<String, TenantWindow> shown = new LinkedHashMap<>();
        windows.forEach((tenant, shared) -> shown.put(tenant, shared.window));
        open = Collections.unmodifiableMap(shown);
        all = shown.values().toArray(TenantWindow[]::new);
    }

    /** Returns the figures for the status; any thread. Does not wait for a client that changes a window. */
    public List<Bounds> bounds() {
        List<Bounds> bounds = new ArrayList<>();
        open.forEach((tenant, window) -> {
            HeapStatistics statistics = window.statistics();
            WindowPlace place = window.place();
            bounds.add(new Bounds(tenant, place.baseAddress(), place.sizeBytes(), window.layout().devicePartBytes(), statistics.committedBytes(),
                    window.limitBytes(), window.sinkBytes(), statistics.liveBytes(), window.residency().awayBytes(),
                    window.residency().copiedBytes(), window.residency().sparedBytes()));
        });
        return bounds;
    }

    /** Returns the memory on its way from one tenant to the next. */
    HandedPieces handed() {
        return swap.handed();
    }

    /** Returns the device that the windows are of. */
    public DeviceContext device() {
        return device;
    }
}
