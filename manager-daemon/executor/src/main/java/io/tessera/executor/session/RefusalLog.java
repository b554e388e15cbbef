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
 * Requests of a client that were refused before they reached the driver: logged once for each kind of record and entry, and counted from
 * then on, so that a client that tries for hours writes no more than a few lines. One owner thread.
 */
final class RefusalLog {
    private static final int MOST_LINES = 32;
    private static final Logger LOG = LoggerFactory.getLogger(RefusalLog.class);

    private final String client;
    private final Map<Integer, Long> counts = new HashMap<>();
    /** Sentences that the program has read, without their numbers. */
    private final Set<String> told = new HashSet<>();
    private long total;

    /** For a client, by the name that says its process and tenant. */
    RefusalLog(String client) {
        this.client = client;
    }

    /**
     * A record was refused.
     *
     * @return whether the program is to be told: the refusal says so, and the program was not told the same before
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

    /** The client is gone. */
    void close() {
        if (total > Math.min(counts.size(), MOST_LINES)) {
            LOG.warn("{}: {} refusals in all, of {} kinds", client, total, counts.size());
        }
    }
}
