package io.tessera.executor.fence.report;

import io.tessera.device.CudaResult;
import io.tessera.executor.window.WindowAccess;
import io.tessera.protocol.relay.RelaySegment;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes an error of what one client's kernels wrote where no program of its tenant has memory: the fences let it lie in the tenant's sink, and a driver would
 * have ended the context. A check takes some 50 µs of an H100, so there is at most one in {@link #EVERY_NS} in the long run, at synchronisations that follow work; the
 * first {@link #AT_ONCE} come at once. One owner thread.
 */
public final class StrayWriteChecks {
    /** Time for which a check is saved up. Another one is for measurements; 0: nothing is checked. */
    private static final long EVERY_NS = Long.getLong("tessera.executor.strayWriteChecksEveryMs", 50) * 1_000_000L;
    private static final int AT_ONCE = 20;
    private static final String FIND = "; --fence check names the kernel and the address where kernels have PTX, compute-sanitizer does for a program that runs by itself";
    private static final Logger LOG = LoggerFactory.getLogger(StrayWriteChecks.class);

    private final WindowAccess window;
    private final Supplier<List<String>> kernels;
    private final RelaySegment segment;
    private long savedNs = AT_ONCE * EVERY_NS;
    private long savedAtNs;
    private long checkedNs;
    private long errorAddress;
    private int result;
    private boolean told;

    /**
     * Nothing was launched yet.
     *
     * @param kernels names of those that were launched last
     */
    public StrayWriteChecks(WindowAccess window, Supplier<List<String>> kernels, RelaySegment segment) {
        this.window = window;
        this.kernels = kernels;
        this.segment = segment;
    }

    /** Device address of where the client finds its error. */
    public void tellAt(long address) {
        errorAddress = address;
    }

    /**
     * Somebody is about to wait for a stream: begins a check there if one is due. Where it finds something that can be the client's alone, the client has its error
     * before it hears that its work is done.
     *
     * @param workNs when the client submitted work last
     * @return whether a check has begun
     */
    public boolean begin(long stream, long workNs, long nowNs) {
        if (EVERY_NS == 0 || workNs == checkedNs || result != CudaResult.SUCCESS || !window.isBacked()) {
            return false;
        }
        savedNs = Math.min(savedNs + nowNs - (savedAtNs == 0 ? nowNs : savedAtNs), AT_ONCE * EVERY_NS);
        savedAtNs = nowNs;
        if (savedNs < EVERY_NS || !window.checkStrayWrites(stream, errorAddress)) {
            return false;
        }
        savedNs -= EVERY_NS;
        checkedNs = workNs;
        return true;
    }

    /** The CUresult of what was found so far, sticky. */
    public int look() {
        WindowAccess.StrayWrites found = window.strayWrites();
        if (found == WindowAccess.StrayWrites.OWN) {
            result = CudaResult.ILLEGAL_ADDRESS;
        }
        if (found != WindowAccess.StrayWrites.NONE && !told) {
            told = true;
            String line = found == WindowAccess.StrayWrites.OWN ? "a kernel of this program wrote outside of its memory"
                    : "a kernel of this program, or of another one with its --name, wrote outside of its memory: results may be wrong";
            line += "; the last launches were: " + String.join(", ", kernels.get()) + FIND;
            LOG.warn("{}", line);
            segment.notice(line);
        }
        return result;
    }

    /** The client is gone and its work is done: what nobody waited for is checked, for the log and so that it is not taken for another program's. */
    public void end() {
        if (EVERY_NS != 0 && window.isBacked()) {
            window.checkLastStrayWrites();
            look();
        }
    }
}
