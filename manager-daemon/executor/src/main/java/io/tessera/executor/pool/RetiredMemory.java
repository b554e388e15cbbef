package io.tessera.executor.pool;

import io.tessera.device.CudaResult;
import io.tessera.executor.stream.ProgressEvents;
import io.tessera.executor.window.WindowAccess;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Memory that its program has freed while earlier work may still use it: it goes back to the window when that work is done. One owner thread. */
final class RetiredMemory {
    private final WindowAccess window;
    private final ProgressEvents events;
    private final List<Retired> all = new ArrayList<>();

    private record Retired(long address, List<Long> events) {
    }

    RetiredMemory(WindowAccess window, ProgressEvents events) {
        this.window = window;
        this.events = events;
    }

    /** Gives memory back when the work of some streams that was submitted so far is done. */
    void after(long address, List<Long> streams) {
        List<Long> behind = new ArrayList<>();
        for (long stream : streams) {
            long event = events.record(stream);
            if (event != ProgressEvents.NONE) {
                behind.add(event);
            }
        }
        all.add(new Retired(address, behind));
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Gives back what is not in use any more. Returns SUCCESS or a CUresult that is neither that nor NOT_READY. */
    int poll() {
        int error = CudaResult.SUCCESS;
        for (Iterator<Retired> i = all.iterator(); i.hasNext();) {
            Retired retired = i.next();
            int result = state(retired);
            if (result == CudaResult.SUCCESS) {
                i.remove();
                window.free(retired.address);
            } else if (result != CudaResult.NOT_READY) {
                error = result;
            }
        }
        return error;
    }

    private int state(Retired retired) {
        for (Iterator<Long> i = retired.events.iterator(); i.hasNext();) {
            long event = i.next();
            int result = events.query(event);
            if (result != CudaResult.SUCCESS) {
                return result;
            }
            i.remove();
            events.giveBack(event);
        }
        return CudaResult.SUCCESS;
    }

    /** Gives everything back. All work of the client is done. */
    void releaseAll() {
        for (Retired retired : all) {
            retired.events.forEach(events::giveBack);
            window.free(retired.address);
        }
        all.clear();
    }
}
