package io.tessera.executor.session;

import io.tessera.device.CudaResult;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.executor.window.ClientWindow;
import io.tessera.protocol.relay.RelaySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets a client's records be executed only while its tenant's memory is on the device, and makes that memory leave for others. The session's owner thread. */
final class MemoryPresence {
    private static final Logger LOG = LoggerFactory.getLogger(MemoryPresence.class);

    private final ClientWindow window;
    private final RelaySegment segment;
    private final String name;

    /** Creates an instance for a client, which log lines call by the name. */
    MemoryPresence(ClientWindow window, RelaySegment segment, String name) {
        this.window = window;
        this.segment = segment;
        this.name = name;
    }

    /**
     * Checks before records are executed that the client's memory is present.
     *
     * @param hasWork whether there are records
     * @return whether they may be executed: the memory is present, or the records no longer reach it
     */
    boolean admits(RecordDispatcher records, boolean hasWork) {
        boolean wanted = hasWork || window.isRecalled();
        boolean served = isServed(records);
        if (served || !wanted) {
            window.waitsNoMore();
        }
        return served || wanted && comesBack(records);
    }

    /** Returns whether records may be executed now. While the client is inside the window's gate, the answer does not change. */
    boolean isServed(RecordDispatcher records) {
        return !window.isAway() || records.isLost();
    }

    /** Brings the tenant's memory back to the device; false: it is not there yet. */
    private boolean comesBack(RecordDispatcher records) {
        int result = window.comeBack();
        if (result == CudaResult.NOT_READY) {
            BoundedWait.moment(WaitLimit.MEMORY_AWAY);
        } else if (result == CudaResult.OUT_OF_MEMORY) {
            LOG.error("{} is ended: its memory has left the device, and no other tenant makes room for it", name);
            segment.notice("the memory of this program has left the device and cannot come back: other programs do not give theirs up");
            records.refuse(result);
        } else if (result != CudaResult.SUCCESS) {
            records.lose(result, "the memory of " + name + " on its way back");
        }
        return result != CudaResult.NOT_READY;
    }

    /** Leaves the device if that is due. Called between records. */
    void giveWay(RecordDispatcher records) {
        int result = records.isGone() ? CudaResult.SUCCESS : window.giveWay();
        if (result != CudaResult.SUCCESS && !records.isLost()) {
            records.lose(result, "the memory of " + name + " on its way out");
        }
    }
}
