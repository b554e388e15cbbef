package io.tessera.executor.window;

import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.guardian.heap.CommitPort;

/**
 * Carries out the heap's requests for memory, with the driver calls of the client that changes the window. Memory is made
 * and zeroed first; the tenant's work rests only while the memory is mapped. Guarded by the window's lock.
 */
final class PageCommits implements CommitPort {
    /** The tenant whose window it is. */
    interface Tenant {
        /** Brings the tenant's work to rest until {@link #wake}; false if it does not come. The window's lock is held. */
        boolean rest();

        /** Lets the tenant continue, once for every {@link #rest}. */
        void wake();

        /** Returns the client whose thread changes the window; the lock is held. */
        WindowClient actor();
    }

    private final Tenant tenant;
    private final WindowPages pages;
    private final FreshMemory fresh;
    private final long base;
    private final long pieceBytes;
    private boolean resting;

    PageCommits(Tenant tenant, WindowPages pages, FreshMemory fresh, long base, long pieceBytes) {
        this.tenant = tenant;
        this.pages = pages;
        this.fresh = fresh;
        this.base = base;
        this.pieceBytes = pieceBytes;
    }

    /** Brings the tenant to rest, once for all changes that belong together. A window without a sink needs no rest, since no fenced kernel runs in it. */
    private boolean rested() {
        if (!resting && pages.isBacked()) {
            resting = tenant.rest();
            return resting;
        }
        return true;
    }

    @Override
    public void endChange() {
        if (resting) {
            resting = false;
            tenant.wake();
        }
    }

    @Override
    public boolean commit(long offset, long bytes) {
        DriverCalls driver = tenant.actor().driver();
        long[] handles = fresh.make(driver, tenant.actor().waiting(), Math.toIntExact(bytes / pieceBytes));
        if (handles == null) {
            return false;
        }
        if (!rested()) {
            fresh.discard(driver, handles);
            return false;
        }
        return pages.place(driver, base + offset, bytes, handles) == CudaResult.SUCCESS;
    }

    @Override
    public void decommit(long offset, long bytes) {
        if (!rested()) {
            throw new PagesStuckException("the tenant's work does not come to rest");
        }
        int result = pages.remove(tenant.actor().driver(), base + offset, bytes);
        if (result != CudaResult.SUCCESS) {
            throw new PagesStuckException("memory cannot be given back: CUDA error " + result);
        }
    }
}
