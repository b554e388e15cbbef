package io.tessera.executor.fence;

import io.tessera.device.CudaResult;
import io.tessera.executor.fence.report.ReportPage;
import io.tessera.protocol.relay.RelaySegment;

/** Orders a client's fenced kernels to end: for good, or so that later ones run again. One owner thread. */
public final class KernelStops {
    private final RelaySegment segment;
    /** Page with the stop word; null: no kernel was loaded that reads it. */
    private ReportPage page;

    KernelStops(RelaySegment segment) {
        this.segment = segment;
    }

    /** Records that kernels were loaded that read the stop word: those made of PTX do, and most of machine code with fences. */
    void loaded(ReportPage withWord) {
        page = withWord;
    }

    /** Makes all fenced kernels of the client end, those to come included. Returns false if the client has none. */
    public boolean stop() {
        if (page != null) {
            page.stop();
        }
        return page != null;
    }

    /** Returns whether kernels can be ended for now, so that later ones run ({@link #goOn}). */
    public boolean canGoOn() {
        return page != null && page.canGoOn();
    }

    /** Makes all fenced kernels of the client end, and those that begin before {@link #goOn}. Only if it {@link #canGoOn}. */
    public void stopForNow() {
        page.halt();
    }

    /** Lets kernels run again after {@link #stopForNow}, when none is running; not if the client was ended meanwhile. */
    public void goOn() {
        if (page != null && segment.contextError() == CudaResult.SUCCESS) {
            page.goOn();
        }
    }
}
