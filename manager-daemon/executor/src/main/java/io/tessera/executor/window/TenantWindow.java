package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.memory.HostAddresses;
import io.tessera.executor.swap.DeviceSwap;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.guardian.heap.HeapRefusal;
import io.tessera.guardian.heap.HeapSettings;
import io.tessera.guardian.heap.HeapStatistics;
import io.tessera.guardian.heap.WindowHeap;
import io.tessera.guardian.window.WindowLayout;
import io.tessera.guardian.window.WindowPlace;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The window of one tenant on one device: its addresses, what is mapped there, and the heap that hands it out. Shared by
 * the tenant's clients; made with the first and closed with the last. Methods that take a {@link WindowClient} belong to
 * that client's owner thread, whose driver calls they use; a lock lets one client change the window at a time. Methods
 * wait for another tenant only if the device has no memory left, and then for a bounded time.
 */
final class TenantWindow implements PageCommits.Tenant, WindowResidency.Owner {
    private static final Logger LOG = LoggerFactory.getLogger(TenantWindow.class);

    /**
     * Unused addresses at either end. Compilers form pointers outside of an array, for example to the row before it. A fence would move one from below
     * the window to the window's other end.
     */
    private static final long MARGIN_BYTES = 64L << 20;
    /** Memory that was unused for this long goes back to the device. */
    static final long TRIM_AFTER_NS = 5_000_000_000L;

    private final WindowPlace place;
    private final WindowLayout layout;
    private final WindowPages pages;
    private final FreshMemory fresh;
    private final SinkChecks checks;
    private final NanoClock clock;
    private final WindowGate gate = new WindowGate();
    private final List<WindowClient> clients = new CopyOnWriteArrayList<>();
    private final LongSupplier limit;
    private final WindowResidency residency;
    private final WindowHeap heap;
    private final HostAddresses hostAddresses;
    private volatile HeapStatistics known;
    private volatile long sinkBytes;
    private volatile int mappings;
    private long applied;
    /** Whether more is committed than the quota allows. */
    private boolean over;
    private int restDepth;
    /** The client that changes the window now; guarded by the lock. */
    private WindowClient actor;
    private boolean quiet;
    private volatile boolean trimWanted;
    private volatile boolean leftBehind;
    private volatile boolean narrow = true;
    /** Whether kernels were launched that reach only the first 4 GiB. */
    private volatile boolean hasNarrowKernels;
    private volatile boolean reclaimable;
    private volatile long lastFreeNs;

    /**
     * The parts of a window.
     *
     * @param driverPages the driver's calls
     * @param pages       the mappings
     * @param fresh       makes its memory
     * @param checks      of its sink
     */
    record Parts(DriverPages driverPages, WindowPages pages, FreshMemory fresh, SinkChecks checks) {
    }

    /**
     * Creates a window over reserved addresses.
     *
     * @param parts the parts of the window
     * @param swap  state that the tenants of the device share
     * @param limit the tenant's quota in bytes, 0 for none; called repeatedly
     */
    TenantWindow(WindowPlace place, WindowLayout layout, Parts parts, DeviceSwap swap, NanoClock clock, LongSupplier limit) {
        this.place = place;
        this.layout = layout;
        this.pages = parts.pages;
        this.fresh = parts.fresh;
        this.checks = parts.checks;
        this.clock = clock;
        this.residency = new WindowResidency(this, pages, parts.driverPages, layout.slotBytes(), swap, clock);
        this.limit = limit;
        this.hostAddresses = hostAddresses(place, layout);
        long slot = layout.slotBytes();
        this.heap = new WindowHeap(layout.growsByNeed() ? HeapSettings.byNeed(layout.devicePartBytes(), slot)
                : HeapSettings.standard(layout.devicePartBytes(), slot),
                new PageCommits(this, pages, fresh, place.baseAddress(), slot), quota());
        if (heap.reserve(MARGIN_BYTES, 1, 0) != 0) {
            throw new IllegalStateException("a new window has no room at its beginning");
        }
        if (layout.nearHostOffset() != 0
                && heap.reserve(WindowLayout.NEAR_HOST_BYTES, 1, layout.nearHostOffset()) != layout.nearHostOffset()) {
            throw new IllegalStateException("a new window has no room for host memory in its first 4 GiB");
        }
        this.applied = quota();
        this.known = heap.statistics();
    }

    private static HostAddresses hostAddresses(WindowPlace place, WindowLayout layout) {
        List<HostAddresses.Range> ranges = new ArrayList<>();
        if (layout.nearHostOffset() != 0) {
            long begin = place.baseAddress() + layout.nearHostOffset();
            ranges.add(new HostAddresses.Range(begin, begin + WindowLayout.NEAR_HOST_BYTES));
        }
        ranges.add(new HostAddresses.Range(place.baseAddress() + layout.hostPartOffset(), place.endAddress() - MARGIN_BYTES));
        return new HostAddresses(ranges, layout.granularityBytes());
    }

    WindowPlace place() {
        return place;
    }

    WindowLayout layout() {
        return layout;
    }

    WindowGate gate() {
        return gate;
    }

    WindowResidency residency() {
        return residency;
    }

    /** Wakes sleeping threads of its clients; does not wait. */
    void wakeClients() {
        clients.forEach(WindowClient::wake);
    }

    void join(WindowClient client) {
        clients.add(client);
    }

    /** Removes a client that has left, or whose thread has ended. */
    void leave(WindowClient client) {
        clients.remove(client);
    }

    boolean isAlone(WindowClient client) {
        return clients.size() == 1 && clients.getFirst() == client;
    }

    @Override
    public WindowClient actor() {
        return actor;
    }

    /**
     * Runs an action under the lock, with the client's driver calls for whatever the heap then needs.
     *
     * @return the action's result; the refusal NO_MEMORY where memory could not be given back that had to be freed first
     */
    private long locked(WindowClient client, LongSupplier action) {
        WindowClient before = changeBegins(client);
        try {
            mend(client);
            return action.getAsLong();
        } catch (PagesStuckException e) {
            LOG.warn("{}", e.getMessage());
            return HeapRefusal.NO_MEMORY.code();
        } finally {
            changeEnds(client, before);
        }
    }

    private WindowClient changeBegins(WindowClient client) {
        client.pass().lock();
        WindowClient before = actor;
        actor = client;
        return before;
    }

    private void changeEnds(WindowClient client, WindowClient before) {
        residency.changed();
        residency.grows(false);
        actor = before;
        client.pass().unlock();
    }

    private void mend(WindowClient client) {
        if (isBroken()) {
            resting(() -> pages.back(client.driver())); // otherwise its clients stay refused, see ClientWindow.enter
        }
    }

    /** Offset of an allocation in the window, or the heap's refusal. */
    long allocate(WindowClient client, long bytes, long alignment) {
        WindowClient before = changeBegins(client);
        try {
            mend(client);
            applyQuota();
            residency.grows(true);
            return heap.allocate(bytes, alignment);
        } catch (PagesStuckException e) {
            LOG.warn("{}", e.getMessage());
            return HeapRefusal.NO_MEMORY.code();
        } finally {
            changeEnds(client, before);
        }
    }

    /** Gives an allocation back. Returns its size, or the heap's refusal. */
    long free(WindowClient client, long offset) {
        return locked(client, () -> {
            lastFreeNs = clock.nanoTime();
            reclaimable = true;
            return heap.free(offset);
        });
    }

    /** Takes addresses without memory, at an offset if it is free. Returns their offset, or the heap's refusal. */
    long reserve(WindowClient client, long bytes, long alignment, long wanted) {
        return locked(client, () -> heap.reserve(bytes, alignment, wanted));
    }

    /** Gives reserved addresses back. Returns their size, or the heap's refusal. */
    long release(WindowClient client, long offset) {
        return locked(client, () -> heap.release(offset));
    }

    /** Counts memory that a program makes itself against the quota; false if that does not allow it. */
    boolean charge(WindowClient client, long bytes) {
        return locked(client, () -> {
            applyQuota();
            return heap.charge(bytes);
        }) == 0;
    }

    /** Takes back what {@link #charge} counted. */
    void discharge(WindowClient client, long bytes) {
        locked(client, () -> {
            heap.discharge(bytes);
            return 0;
        });
    }

    private long quota() {
        long bytes = limit.getAsLong();
        return bytes == 0 ? WindowHeap.UNLIMITED : bytes;
    }

    /** Applies the quota, which the manager may have changed; memory beyond it is given back as it is freed. */
    private void applyQuota() {
        long wanted = quota();
        if (wanted != applied || over) {
            applied = wanted;
            over = heap.setQuota(wanted) > 0;
        }
    }

    HostAddresses hostAddresses() {
        return hostAddresses;
    }

    /** See {@code ClientWindow.openHost}. */
    int openHost(WindowClient client, long address, long bytes, IntSupplier fill) {
        return (int) locked(client, () -> changing(() -> {
            int result = pages.openHost(client.driver(), address, bytes);
            if (result == CudaResult.SUCCESS) {
                result = fill.getAsInt();
            }
            if (result != CudaResult.SUCCESS) {
                pages.closeHost(client.driver(), address, bytes);
            }
            return result;
        }));
    }

    /** See {@code ClientWindow.closeHost}. */
    int closeHost(WindowClient client, long address, long bytes, IntSupplier clear) {
        return (int) locked(client, () -> changing(() -> {
            int result = clear.getAsInt();
            return result == CudaResult.SUCCESS ? pages.closeHost(client.driver(), address, bytes) : result;
        }));
    }

    /** See {@link WindowAccess#isNarrow}. */
    boolean isNarrow() {
        return narrow;
    }

    /** See {@link WindowAccess#launchesNarrow}. */
    boolean launchesNarrow() {
        if (narrow && !hasNarrowKernels) {
            hasNarrowKernels = true;
        }
        return narrow;
    }

    /**
     * Prepares for an address that a program is about to receive. If it is the first one beyond the first 4 GiB, waits for kernels that cannot reach it.
     *
     * @param endOffset end of the memory at the address, from the window's base
     */
    void gives(WindowClient client, long endOffset) {
        if (!narrow || endOffset <= WindowLayout.MIN_SIZE_BYTES) {
            return;
        }
        IntSupplier change = () -> {
            narrow = false;
            return CudaResult.SUCCESS;
        };
        if ((hasNarrowKernels ? whenQuiet(client, change) : change.getAsInt()) != CudaResult.SUCCESS) {
            change.getAsInt();
            LOG.warn("window 0x{}: kernels that run now and do not end do not reach memory beyond its first 4 GiB",
                    Long.toHexString(place.baseAddress()));
        }
    }

    /** Zeroes memory that a program makes; false if that cannot be done. */
    boolean zero(WindowClient client, long handle, long bytes) {
        return locked(client, () -> fresh.zero(client.driver(), handle, bytes) ? 0 : -1) == 0;
    }

    /** Maps what a program made, while the tenant rests if its window is backed. Returns a CUresult. */
    int map(WindowClient client, long address, long bytes, long handle) {
        return (int) locked(client, () -> changing(() -> pages.placeOfProgram(client.driver(), address, bytes, handle)));
    }

    /** Unmaps what a program mapped. Returns a CUresult. */
    int unmap(WindowClient client, long address, long bytes) {
        return (int) locked(client, () -> changing(() -> pages.removeOfProgram(client.driver(), address, bytes)));
    }

    private int changing(IntSupplier change) {
        return pages.isBacked() ? resting(change) : change.getAsInt();
    }

    /** See {@link WindowAccess#backEverywhere}. */
    int back(WindowClient client) {
        return pages.isBacked() && !isBroken() ? CudaResult.SUCCESS
                : (int) locked(client, () -> pages.isBacked() ? CudaResult.SUCCESS : firstBack(client.driver()));
    }

    private int firstBack(DriverCalls driver) {
        int result = pages.back(driver);
        if (result == CudaResult.SUCCESS) {
            pages.arm(driver, checks);
        }
        return result;
    }

    /** Returns the checks for writes of kernels to the sink. */
    SinkChecks checks() {
        return checks;
    }

    /** Returns the first address behind all memory that the window ever had; any thread. */
    long reachedAddress() {
        return pages.reachedAddress();
    }

    boolean isBacked() {
        return pages.isBacked();
    }

    /**
     * Returns whether some addresses of a backed window are unmapped, because the driver refused the sink. Until that is repaired, no
     * kernel of the tenant may run.
     */
    boolean isBroken() {
        return pages.isBroken();
    }

    /** See {@link WindowAccess#whenQuiet}. */
    int whenQuiet(WindowClient client, IntSupplier change) {
        return (int) locked(client, () -> resting(change));
    }

    @Override
    public int change(WindowClient client, IntSupplier change) {
        return (int) locked(client, change::getAsInt);
    }

    @Override
    public int whenStill(WindowClient client, IntSupplier change) {
        return (int) locked(client, () -> resting(() -> {
            if (client.pass().isAnotherMidway()) {
                return CudaResult.NOT_READY;
            }
            heap.trim();
            try {
                return change.getAsInt();
            } finally {
                residency.changed(); // before the gate opens: a client that enters must see that memory is away
            }
        }));
    }

    private int resting(IntSupplier change) {
        if (!rest()) {
            return CudaResult.OUT_OF_MEMORY;
        }
        try {
            return change.getAsInt();
        } finally {
            wake();
        }
    }

    @Override
    public boolean rest() {
        if (!quiet) {
            BoundedWait wait = BoundedWait.begin(clock, WaitLimit.TENANT_REST, actor.waiting());
            if (!actor.pass().closeGate(BoundedWait.begin(clock, WaitLimit.WINDOW_GATE, wait))) {
                return false;
            }
            if (!isIdle(wait)) {
                actor.pass().openGate();
                return false;
            }
            quiet = true;
        }
        restDepth++;
        return true;
    }

    @Override
    public void wake() {
        if (--restDepth == 0) {
            if (pages.isBroken()) {
                pages.back(actor.driver()); // once more, while nothing of the tenant runs
            }
            quiet = false;
            actor.pass().openGate();
        }
    }

    private boolean isIdle(BoundedWait wait) {
        for (WindowClient client : clients) {
            int result;
            while ((result = client.streams().queryFrom(actor.driver())) == CudaResult.NOT_READY) {
                if (wait.isOver() || !actor.goesOn()) {
                    return false;
                }
                wait.pause();
            }
            if (result != CudaResult.SUCCESS) {
                return false;
            }
        }
        return true;
    }

    /** Requests a trim, because another client finds no memory: free memory is given back when one of the tenant's threads has time. */
    void wantTrim() {
        trimWanted = true;
    }

    /** Returns whether a trim was requested and has something to do. */
    boolean isTrimWanted() {
        return trimWanted && reclaimable;
    }

    /** Returns whether memory was freed since the last {@link #trim}, but none recently: the tenant probably does not need it again. */
    boolean isLeftAlone() {
        return reclaimable && clock.nanoTime() - lastFreeNs > TRIM_AFTER_NS;
    }

    /** Gives back memory without live allocations. */
    void trim(WindowClient client) {
        locked(client, () -> {
            trimWanted = false;
            reclaimable = false;
            heap.trim();
            return CudaResult.SUCCESS;
        });
    }

    /** Numbers for status; any thread. While the window is being changed they are those of before. */
    HeapStatistics statistics() {
        gate.tryLocked(() -> {
            known = heap.statistics();
            sinkBytes = pages.sinkBytes();
            mappings = pages.mappings();
        });
        return known;
    }

    /** Records that some memory of the tenant could not be removed: no other client may have these addresses. */
    void leaveBehind() {
        leftBehind = true;
    }

    /** Returns whether {@link #leaveBehind} was called. */
    boolean hasLeftBehind() {
        return leftBehind;
    }

    /** Returns the tenant's quota in bytes; 0: none. */
    long limitBytes() {
        return limit.getAsLong();
    }

    /** Returns the physical memory of the sink at the last call of {@link #statistics}. */
    long sinkBytes() {
        return sinkBytes;
    }

    /** Returns the mappings of the sink and of memory at the last call of {@link #statistics}. */
    int mappings() {
        return mappings;
    }

    /** Gives everything back; no client is left. Returns SUCCESS or the first other CUresult. */
    int close(DriverCalls driver) {
        int first = CudaResult.SUCCESS;
        for (int result : new int[] {checks.close(driver), residency.close(driver), pages.close(driver), fresh.close(driver)}) {
            first = first == CudaResult.SUCCESS ? result : first;
        }
        return first;
    }
}
