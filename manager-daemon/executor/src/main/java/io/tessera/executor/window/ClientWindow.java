package io.tessera.executor.window;

import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.memory.HostAddresses;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.guardian.heap.HeapRefusal;
import io.tessera.guardian.window.WindowLayout;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/**
 * One client's access to its tenant's window. The client may submit work only between {@link #enter} and {@link #leave}. One owner thread,
 * except for {@link #abandon}.
 */
public final class ClientWindow implements WindowAccess {
    /** Alignment of CUDA's own allocations. */
    private static final long ALIGNMENT = 512;

    private final TenantWindows windows;
    private final String tenant;
    private final TenantMemory account;
    private final WindowClient client;
    private TenantWindow window;
    private String refusal = "";
    private int strayWritesTold;
    private boolean ownStrayWritesTold;
    /** Whether kernels of the client may run: from its first launch until they have ended. */
    private boolean writes;
    /** Whether it has asked for its memory off the device, and has not all of it back yet. */
    private boolean stands;

    /** Creates the client's access to its tenant's window, which is opened later. */
    public ClientWindow(TenantWindows windows, String tenant, TenantMemory account, DriverCalls driver,
            ClientStreams streams) {
        this.windows = windows;
        this.tenant = tenant;
        this.account = account;
        this.client = new WindowClient(driver, streams);
    }

    /** Joins the tenant's window, which is made for the first of its clients. Returns a CUresult. */
    public int open() {
        TenantWindows.Joined joined = windows.join(tenant, account, client);
        window = joined.window();
        refusal = joined.refusal();
        return joined.result();
    }

    /** Returns why {@link #open} did not succeed, for the program's user. */
    public String refusal() {
        return refusal;
    }

    /** Returns whether {@link #open} succeeded. */
    public boolean isOpen() {
        return window != null;
    }

    /** Records that the client has left: until {@link #abandon}, others that find no memory wait for its memory. */
    public void leaving() {
        waitsNoMore();
        if (!client.isLeaving()) {
            client.leaving(true);
            windows.reclaims().begin();
        }
    }

    /**
     * Runs an action that takes device memory, and repeats it when others have given some back, for a bounded time.
     *
     * @param action returns a CUresult
     */
    public int attempt(IntSupplier action) {
        int result = windows.reclaims().attempt(client, action);
        return window == null ? result
                : (int) window.residency().withRoom(client, WindowResidency.UNKNOWN_BYTES, result, action::getAsInt,
                        answer -> answer == CudaResult.OUT_OF_MEMORY);
    }

    /**
     * Makes room on the device for the driver's own objects.
     *
     * @return whether there is such room now
     */
    public boolean makeRoom(long bytes) {
        return window != null && window.residency().makeRoom(client, bytes);
    }

    /** Sets the action by which any thread can wake the client's thread. */
    public void wakenBy(Runnable action) {
        client.wakenBy(action);
    }

    /** Returns whether memory of the tenant is not on the device: no record may be executed. */
    public boolean isAway() {
        return window.residency().isAway();
    }

    /** Returns whether the tenant's memory has to come back although no record asks for it. */
    public boolean isRecalled() {
        return window.residency().isRecalled();
    }

    /**
     * Brings the tenant's memory back as far as there is room, before records are executed.
     *
     * @return a CUresult; NOT_READY: not all is back yet, to be called again; OUT_OF_MEMORY: no other tenant makes room for it
     */
    public int comeBack() {
        int result = window.residency().comeBack(client);
        stands = result == CudaResult.NOT_READY;
        return result;
    }

    /**
     * Records that the client will not call {@link #comeBack} any more. It gives up its place in the line, because those behind it are served only
     * after it.
     */
    public void waitsNoMore() {
        if (stands) {
            stands = false;
            window.residency().withdraw();
        }
    }

    /**
     * Leaves the device if others need the memory and this tenant is the one to leave. Called between records.
     *
     * @return a CUresult; other than SUCCESS: the context is lost
     */
    public int giveWay() {
        return window.residency().giveWay(client);
    }

    /** Returns whether a tenant may have to leave the device soon; any thread. */
    public boolean isRoomWanted() {
        return windows.isRoomWanted();
    }

    /** Records that the client has just executed records. */
    public void worked() {
        window.residency().worked();
    }

    /** Returns the bytes that other tenants have on the device and would give up for this one. */
    public long othersBytes() {
        return window.residency().othersBytes();
    }

    @Override
    public void waitsWithin(BoundedWait outer) {
        client.waitsWithin(outer);
    }

    /** Sets the test that the client's thread makes while it waits for the tenant's work to rest: whether to continue. */
    public void whileWaiting(BooleanSupplier asked) {
        client.whileWaiting(asked);
    }

    TenantWindow window() {
        return window;
    }

    /**
     * Enters the window before records are executed: waits while pages of the window change.
     *
     * @return false if no work of the client may be submitted, because its window is broken
     */
    public boolean enter() {
        client.pass().enter();
        return !window.isBroken();
    }

    /** Leaves the window after records were executed. */
    public void leave() {
        client.pass().leave();
    }

    /** Runs a wait that concerns no memory of the tenant: meanwhile pages of the window may change. */
    public void outside(Runnable waiting) {
        WindowGate.Pass pass = client.pass();
        if (pass == null || pass.holdsLock()) {
            waiting.run();
        } else {
            pass.outside(waiting);
        }
    }

    /** Gives memory back that another tenant needs, or that was not used again for long; the client has nothing to do. */
    public void rest() {
        if (window.isTrimWanted() || window.isLeftAlone()) {
            window.trim(client);
        }
    }

    /** Runs an action that the tenant's limit may forbid, and repeats it when clients that have left gave memory back. */
    public boolean attemptWithinLimit(BooleanSupplier action) {
        PendingReclaims reclaims = windows.reclaims();
        long goneBefore = reclaims.gone();
        return action.getAsBoolean()
                || reclaims.again(client, goneBefore, HeapRefusal.OVER_QUOTA.code(),
                        () -> action.getAsBoolean() ? 0 : HeapRefusal.OVER_QUOTA.code()) == 0;
    }

    /** If the client is the tenant's last, has memory without live allocations given back now. */
    public void giveBack() {
        if (window.isAlone(client)) {
            window.trim(client);
        }
    }

    /** Leaves the window, which ends with its last client. All memory of the client is freed. Returns a CUresult. */
    public int close() {
        if (window == null) {
            return CudaResult.SUCCESS;
        }
        leave(window);
        window = null;
        return windows.left(tenant, client.driver());
    }

    private void leave(TenantWindow left) {
        writesNoMore(left, false);
        client.pass().close();
        left.leave(client);
    }

    /** Records that the client's thread has ended, in whatever order: no other client waits for its memory any more. */
    public void abandon() {
        if (window != null) {
            leave(window);
        }
        if (client.isLeaving()) {
            client.leaving(false);
            windows.reclaims().end();
        }
    }

    @Override
    public long baseAddress() {
        return window.place().baseAddress();
    }

    @Override
    public long sizeBytes() {
        return window.place().sizeBytes();
    }

    @Override
    public long guardBytes() {
        return WindowLayout.GUARD_BYTES;
    }

    @Override
    public boolean contains(long address, long bytes) {
        return window.place().contains(address, bytes);
    }

    @Override
    public long allocate(long bytes, long alignment) {
        PendingReclaims reclaims = windows.reclaims();
        long goneBefore = reclaims.gone();
        long aligned = Math.max(alignment, ALIGNMENT);
        long offset = window.allocate(client, bytes, aligned);
        if (PendingReclaims.isRefusal(offset)) {
            offset = reclaims.again(client, goneBefore, offset, () -> window.allocate(client, bytes, aligned));
            offset = window.residency().withRoom(client, bytes, offset, () -> window.allocate(client, bytes, aligned),
                    answer -> answer == HeapRefusal.NO_MEMORY.code());
        }
        return given(offset, bytes);
    }

    /** Returns the address of an allocation that the window made; 0 if it was refused. */
    private long given(long offset, long bytes) {
        if (offset < 0) {
            return 0;
        }
        window.gives(client, offset + bytes);
        return baseAddress() + offset;
    }

    @Override
    public boolean isNarrow() {
        return window.isNarrow();
    }

    @Override
    public boolean launchesNarrow() {
        return window.launchesNarrow();
    }

    @Override
    public void free(long address) {
        if (window.free(client, address - baseAddress()) < 0) {
            throw new IllegalArgumentException("no allocation begins at 0x" + Long.toHexString(address));
        }
    }

    /**
     * Takes addresses without memory.
     *
     * @param wished taken if it is free; 0: any
     * @return the first of them; 0: there are none
     */
    public long reserve(long bytes, long alignment, long wished) {
        long wanted = contains(wished, bytes) ? wished - baseAddress() : -1;
        return given(window.reserve(client, bytes, alignment, wanted), bytes);
    }

    /** Gives back addresses at which nothing is mapped any more. */
    public void release(long address) {
        window.release(client, address - baseAddress());
    }

    /** Counts memory that the program makes itself against the tenant's quota; false if that does not allow it. */
    public boolean charge(long bytes) {
        return attemptWithinLimit(() -> window.charge(client, bytes));
    }

    /** Takes back what {@link #charge} counted. */
    public void discharge(long bytes) {
        window.discharge(client, bytes);
    }

    /** Writes zeros to memory that the program makes, before it can be reached; false if that cannot be done. */
    public boolean zero(long handle, long bytes) {
        return window.zero(client, handle, bytes);
    }

    /** Maps memory that the program made, in addresses that were reserved. Returns a CUresult. */
    public int map(long address, long bytes, long handle) {
        return window.map(client, address, bytes, handle);
    }

    /** Unmaps whole mappings of the program. Returns a CUresult. */
    public int unmap(long address, long bytes) {
        return window.unmap(client, address, bytes);
    }

    /** Returns the allocator for pinned memory in the window's host part. */
    public HostAddresses hostAddresses() {
        return window.hostAddresses();
    }

    /** Returns whether an address lies where pinned memory is. */
    public boolean isPinned(long address) {
        return window != null && window.hostAddresses().contains(address);
    }

    /**
     * Makes room in the host part and has something put memory there.
     *
     * @param fill maps and registers it, and leaves nothing behind unless it returns SUCCESS
     * @return a CUresult
     */
    public int openHost(long address, long bytes, IntSupplier fill) {
        window.gives(client, address + bytes - baseAddress());
        return window.openHost(client, address, bytes, fill);
    }

    /**
     * Has memory removed from the host part.
     *
     * @param clear removes it, or returns another CUresult than SUCCESS and leaves it there
     * @return a CUresult
     */
    public int closeHost(long address, long bytes, IntSupplier clear) {
        return window.closeHost(client, address, bytes, clear);
    }

    /** Records that host memory of the client could not be removed: its addresses are given to no other client. */
    public void leaveBehind() {
        window.leaveBehind();
    }

    /** Returns the bytes of committed memory without allocations. */
    public long reclaimableBytes() {
        return window.statistics().reclaimableBytes();
    }

    @Override
    public boolean isAnothers(long address) {
        return windows.isAnothers(window, address);
    }

    @Override
    public int backEverywhere() {
        return isBacked() ? window.back(client) : attempt(() -> window.back(client));
    }

    @Override
    public boolean isBacked() {
        return window.isBacked();
    }

    @Override
    public int whenQuiet(IntSupplier change) {
        return window.whenQuiet(client, change);
    }

    @Override
    public boolean checkStrayWrites(long stream, long errorAddress) {
        return window.checks().begin(client, stream, errorAddress);
    }

    @Override
    public boolean checkStrayWritesBeside(long errorAddress) {
        return window.checks().beginBeside(client, errorAddress);
    }

    @Override
    public boolean checkStrayWritesNow() {
        client.checkedLast(true);
        try {
            return window.checks().checkNow(client);
        } finally {
            client.checkedLast(false);
        }
    }

    @Override
    public void launches() {
        if (!writes) {
            outside(() -> window.checks().awaitLeavers(client.driver()));
            writes = true;
            window.checks().writes(client);
            strayWritesTold = window.checks().foundOfSeveral();
        }
    }

    @Override
    public void launchesNoMore(boolean checked) {
        writesNoMore(window, checked);
    }

    private void writesNoMore(TenantWindow joined, boolean checked) {
        if (writes) {
            writes = false;
            joined.checks().writesNoMore(client, checked);
        }
    }

    @Override
    public StrayWrites strayWrites() {
        if (window == null || client.writer() == 0) {
            return StrayWrites.NONE;
        }
        int ofSeveral = window.checks().foundOfSeveral();
        if (client.hasStrayed() && !ownStrayWritesTold) {
            ownStrayWritesTold = true;
            return StrayWrites.OWN;
        }
        boolean more = ofSeveral != strayWritesTold;
        strayWritesTold = ofSeveral;
        return more ? StrayWrites.OF_THE_TENANT : StrayWrites.NONE;
    }
}
