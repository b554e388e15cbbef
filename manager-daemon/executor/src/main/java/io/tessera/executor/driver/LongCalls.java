package io.tessera.executor.driver;

import io.tessera.device.DriverEntry;
import io.tessera.executor.wait.WaitLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls that work on a whole graph ({@link DriverRow#lockedForLong}). A driver holds the context's lock for the whole call, and the lock is not fair: a client
 * that makes such calls in sequence keeps others out during several of them. So a client pauses after a long one for as long as it took. Stateless.
 */
final class LongCalls {
    /** Shorter calls are not noticeable. */
    private static final long LONG_NS = 10_000_000L;
    /** Longer calls are logged. */
    private static final long SAID_NS = 100_000_000L;
    private static final Logger LOG = LoggerFactory.getLogger(LongCalls.class);

    private LongCalls() {
    }

    /** Pauses after a call that began at this time, if it was long and there are other clients. */
    static void giveWay(DriverEntry entry, SynchronizationGate.Client client, long beginNs) {
        long tookNs = client.nowNs() - beginNs;
        if (tookNs < LONG_NS) {
            return;
        }
        if (tookNs >= SAID_NS) {
            LOG.info("{} took the driver {} ms", entry, tookNs / 1_000_000);
        }
        if (client.hasCompany()) {
            client.sleep(WaitLimit.LONG_CALL, tookNs);
        }
    }
}
