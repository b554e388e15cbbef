package io.tessera.executor.session;

import io.tessera.device.EntryDescriptions;
import io.tessera.executor.call.RejectedException;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RecordKind;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Log of a client's requests that were refused before they reached the driver. Each kind of record and entry is logged once and only counted afterwards, so
 * that a client that repeats its requests for hours causes only a few lines. One owner thread.
 */
final class RefusalLog {
    private static final int MOST_LINES = 32;
    private static final Logger LOG = LoggerFactory.getLogger(RefusalLog.class);

    private final String client;
    private final Map<Integer, Long> counts = new HashMap<>();
    /** Notices that the program has got, without their numbers. */
    private final Set<String> told = new HashSet<>();
    private long total;

    /** Creates the log of a client; the name contains its process and tenant. */
    RefusalLog(String client) {
        this.client = client;
    }

    /**
     * Records a refusal.
     *
     * @return whether to notify the program: the refusal asks for it, and the program did not get the same notice before
     */
    boolean refused(MemorySegment record, RejectedException refusal) {
        int kind = RecordHeader.kind(record);
        int entry = RecordHeader.entry(record);
        total++;
        boolean first = counts.merge(kind << Short.SIZE | entry, 1L, Long::sum) == 1 && counts.size() <= MOST_LINES;
        if (first) {
            LOG.warn("{}: {} is refused with {}: {}", client, name(kind, entry), refusal.result(), refusal.getMessage());
        }
        return refusal.isTold() && told.size() < MOST_LINES && told.add(refusal.getMessage().replaceAll("[0-9]+", ""));
    }

    private static String name(int kind, int entry) {
        if (kind == RecordKind.CALL.code()) {
            return EntryDescriptions.ofIndex(entry).map(Enum::toString).orElse("entry " + entry);
        }
        RecordKind[] kinds = RecordKind.values();
        return kind < kinds.length ? kinds[kind].name() : "a record of kind " + kind;
    }

    /** Ends the log; the client has left. */
    void close() {
        if (total > Math.min(counts.size(), MOST_LINES)) {
            LOG.warn("{}: {} refusals in all, of {} kinds", client, total, counts.size());
        }
    }
}
