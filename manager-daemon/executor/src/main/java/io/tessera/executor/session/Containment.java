package io.tessera.executor.session;

import io.tessera.executor.call.ClientState;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.fence.NativeDrain;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what goes wrong with one client's kernels with that client: what they report becomes its error, endless ones are
 * ended, and what ran without a fence is waited for before somebody else comes in. One owner thread.
 */
final class Containment {
    /** CUDA_ERROR_LAUNCH_TIMEOUT. */
    private static final int LAUNCH_TIMEOUT = 702;
    /** From the order to end to the end of a kernel that looks at it. */
    private static final long END_NS = 10_000_000_000L;
    private static final long TIDY_NS = 20_000_000L;
    private static final Logger LOG = LoggerFactory.getLogger(Containment.class);

    private final ClientState client;
    private final Reports reports;
    private final long clientId;
    private final String name;
    private final NativeDrain drain;
    /** When kernels that were told to end must have ended; 0: none was. */
    private long endsNs;
    private long tidyNs;

    Containment(ClientState client, Reports reports, long clientId, String name) {
        this.client = client;
        this.reports = reports;
        this.clientId = clientId;
        this.name = name;
        this.drain = new NativeDrain(client.fences().member(), client.streams(), client.driver());
    }

    /** Looks at everything, between records. */
    void look(RecordDispatcher records, long nowNs) {
        if (records.isGone()) {
            return;
        }
        int violated = client.fences().violated();
        if (violated != CudaResult.SUCCESS && !records.isLost()) {
            LOG.warn("{}: its kernels did what they must not: error {} for it alone", name, violated);
            records.refuse(violated);
        }
        if (drain.isDue()) {
            int result = drain.poll();
            if (result != CudaResult.SUCCESS) {
                records.lose(result, "unfenced work of " + name);
                return;
            }
        }
        if (endsNs != 0) {
            ending(nowNs);
        } else if (client.fences().watchdog().isExpired(nowNs)) {
            expired(records, nowNs);
        }
        if (client.fences().isLeaving() && nowNs - tidyNs > TIDY_NS) {
            tidyNs = nowNs;
            if (client.streams().query() == CudaResult.SUCCESS) {
                client.fences().quiet();
            }
        }
    }

    /** How long the thread may sleep because of what is due here; the given time if nothing is. */
    long sleepNs(long otherwise) {
        return drain.isDue() || client.fences().isLeaving() || endsNs != 0 ? Math.min(otherwise, TIDY_NS) : otherwise;
    }

    private void expired(RecordDispatcher records, long nowNs) {
        String kernels = String.join(", ", client.fences().kernels().recent());
        String text = "a kernel of this program did not end in time and is ended; the last launches were: " + kernels;
        LOG.warn("{}: {}", name, text);
        client.segment().notice(text);
        client.fences().stop();
        endsNs = nowNs + END_NS;
        records.refuse(LAUNCH_TIMEOUT);
    }

    private void ending(long nowNs) {
        if (client.streams().query() != CudaResult.NOT_READY) {
            endsNs = 0;
            client.fences().watchdog().ended();
        } else if (nowNs - endsNs > 0) {
            endsNs = 0;
            reports.stuck(clientId, client.fences().member().tenant());
        }
    }
}
