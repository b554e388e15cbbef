package io.tessera.executor.stream;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.print.ClientPrinting;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.quota.Countable;
import io.tessera.protocol.relay.RelaySegment;
import java.util.ArrayList;
import java.util.List;

/** Events of a client for which its program waits: queried between records, reported by a completion word. One owner thread. */
public final class EventWatch {
    private final DriverCalls driver;
    private final RelaySegment segment;
    private final ClientPrinting printing;
    private final ClientAccount account;
    private final List<Watch> watches = new ArrayList<>();

    private record Watch(long event, int word, long value) {
    }

    /** Creates an empty set of events. */
    public EventWatch(DriverCalls driver, RelaySegment segment, ClientPrinting printing, ClientAccount account) {
        this.account = account;
        this.driver = driver;
        this.segment = segment;
        this.printing = printing;
    }

    /**
     * Watches an event, unless a first query finds it complete.
     *
     * @return the CUresult; NOT_READY: it is watched
     */
    public int add(long event, int word, long value) {
        String refusal = account.take(Countable.WATCH, 1, 0);
        if (refusal != null) {
            segment.notice(refusal);
            return CudaResult.OUT_OF_MEMORY;
        }
        watches.add(new Watch(event, word, value));
        return ask(watches.size() - 1);
    }

    /** Returns whether anything is watched. */
    public boolean isEmpty() {
        return watches.isEmpty();
    }

    /**
     * Asks the device for every watched event, and writes the words of those that are complete.
     *
     * @return 0, or the first error of a query
     */
    public int poll() {
        int error = CudaResult.SUCCESS;
        for (int i = 0; i < watches.size();) {
            int result = ask(i);
            if (result == CudaResult.NOT_READY) {
                i++;
            } else if (result != CudaResult.SUCCESS && error == CudaResult.SUCCESS) {
                error = result;
            }
        }
        return error;
    }

    /** Queries the device; any answer other than NOT_READY ends the watch. */
    private int ask(int index) {
        Watch watch = watches.get(index);
        int result = driver.call(DriverEntry.cuEventQuery, watch.event);
        if (result == CudaResult.NOT_READY) {
            return result;
        }
        if (result == CudaResult.SUCCESS) {
            result = printing.before(watch.event); // a thread that waits for an event expects the output of all kernels before it
        }
        done(index);
        return result;
    }

    private void done(int index) {
        Watch watch = watches.get(index);
        account.remove(Countable.WATCH);
        Watch lastWatch = watches.removeLast();
        if (index < watches.size()) {
            watches.set(index, lastWatch);
        }
        segment.word(watch.word, watch.value);
    }

    /** Ends the watch of an event that is destroyed, so that a thread does not wait for it for ever. */
    public void forget(long event) {
        for (int i = 0; i < watches.size();) {
            if (watches.get(i).event == event) {
                done(i);
            } else {
                i++;
            }
        }
    }
}
