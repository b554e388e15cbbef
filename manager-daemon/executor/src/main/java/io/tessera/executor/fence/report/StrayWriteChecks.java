package io.tessera.executor.fence.report;

import io.tessera.device.CudaResult;
import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.protocol.relay.RelaySegment;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns writes of one client's kernels to addresses without memory of its tenant into an error. The fences let such writes go to the tenant's sink; a driver
 * would have ended the context. A check takes some 50 µs on an H100. So, in the long run, there is at most one in {@link #EVERY_NS}, at synchronisations that
 * follow work; the first {@link #AT_ONCE} are made without that limit. A check that was left out is made as soon as the limit allows. One owner thread.
 */
public final class StrayWriteChecks {
    /** Average interval of checks. Other values are for measurements; 0: nothing is checked. */
    private static final long EVERY_NS = Long.getLong("tessera.executor.strayWriteChecksEveryMs", 50) * 1_000_000L;
    private static final int AT_ONCE = 20;
    private static final String SANITIZER = "compute-sanitizer finds the kernel of a program that runs by itself";
    private static final String CHECK = "--fence check names the kernel and the address where kernels have PTX, ";
    private static final Logger LOG = LoggerFactory.getLogger(StrayWriteChecks.class);

    private final WindowAccess window;
    private final Supplier<List<String>> kernels;
    private final RelaySegment segment;
    private final String advice;
    private long savedNs = AT_ONCE * EVERY_NS;
    private long savedAtNs;
    /** When the last work was submitted that is checked, or whose check is owed. */
    private long checkedNs;
    /** When the work whose check was left out was submitted; 0: no check was. */
    private long owedNs;
    private long errorAddress;
    private int result;
    private boolean toldOfTenant;

    /**
     * Creates an instance for a client that has launched nothing.
     *
     * @param kernels names of those that were launched last
     * @param mode    of the client's fences
     */
    public StrayWriteChecks(WindowAccess window, Supplier<List<String>> kernels, RelaySegment segment, FenceMode mode) {
        this.window = window;
        this.kernels = kernels;
        this.segment = segment;
        this.advice = "; " + (mode == FenceMode.CHECK ? "" : CHECK) + SANITIZER;
    }

    /** Sets the device address at which the client finds its error. */
    public void tellAt(long address) {
        errorAddress = address;
    }

    /**
     * Begins a check if one is due. Called when the program is about to wait for a stream. If the check finds writes that only this client can have made, the
     * client gets its error before it learns that its work is done.
     *
     * @param workNs when the client submitted work last
     * @return whether a check has begun
     */
    public boolean begin(long stream, long workNs, long nowNs) {
        if (workNs == checkedNs || !mayFind()) {
            return false;
        }
        if (!isAffordable(nowNs)) {
            owedNs = workNs;
            return false;
        }
        return begun(window.checkStrayWrites(stream, errorAddress), workNs);
    }

    /**
     * Begins a check that was left out, if the limit allows it now, so that the next wait finds its error. Called when the awaited work is
     * done.
     *
     * @return whether a check has begun
     */
    public boolean makeUp(long nowNs) {
        if (!isOwed() || !isAffordable(nowNs)) {
            return false;
        }
        return begun(mayFind() && window.checkStrayWritesBeside(errorAddress), owedNs);
    }

    /** Returns whether a check was left out that {@link #makeUp} is to begin. */
    public boolean isOwed() {
        return owedNs != 0;
    }

    private boolean mayFind() {
        return EVERY_NS != 0 && result == CudaResult.SUCCESS && window.isBacked();
    }

    private boolean isAffordable(long nowNs) {
        savedNs = Math.min(savedNs + nowNs - (savedAtNs == 0 ? nowNs : savedAtNs), AT_ONCE * EVERY_NS);
        savedAtNs = nowNs;
        return savedNs >= EVERY_NS;
    }

    private boolean begun(boolean begun, long workNs) {
        owedNs = 0;
        if (begun) {
            savedNs -= EVERY_NS;
            checkedNs = workNs;
        }
        return begun;
    }

    /** Returns the CUresult of what was found so far, sticky. */
    public int look() {
        WindowAccess.StrayWrites found = window.strayWrites();
        if (found == WindowAccess.StrayWrites.OWN && result == CudaResult.SUCCESS) {
            result = CudaResult.ILLEGAL_ADDRESS;
            tell("a kernel of this program wrote outside of its memory");
        } else if (found == WindowAccess.StrayWrites.OF_THE_TENANT && result == CudaResult.SUCCESS && !toldOfTenant) {
            toldOfTenant = true;
            tell("a kernel of this program, or of another one with its --name, wrote outside of its memory: results may be wrong");
        }
        return result;
    }

    private void tell(String what) {
        List<String> last = kernels.get();
        String line = what + (last.isEmpty() ? "" : "; the last launches were: " + String.join(", ", last)) + advice;
        LOG.warn("{}", line);
        segment.notice(line);
    }

    /**
     * Makes a check regardless of the limit, for the line that the program shows at its end. Called when the program ends and its work is done. Waits for a
     * bounded time.
     *
     * @return whether all writes were found
     */
    public boolean finish() {
        boolean checked = mayFind() && window.checkStrayWritesNow();
        owedNs = 0;
        look();
        return checked;
    }

    /**
     * Checks work for which nobody waited, for the log, and so that its writes are not attributed to another program. The client has left, and its
     * work is done.
     */
    public void end() {
        boolean checked = EVERY_NS != 0 && window.isBacked() && window.checkStrayWritesNow();
        look();
        window.launchesNoMore(checked);
    }
}
