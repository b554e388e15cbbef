package io.tessera.manager.session;

import io.tessera.clock.NanoClock;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The manager's own distinct-error log: the same text is logged once and then counted. One owner thread.
 *
 * <p>Holds at most {@value #CAPACITY} texts, because peers can make up texts; all further ones are counted together.
 */
public final class DistinctErrors {
    /** Texts that are kept apart; as many as a client's segment has. */
    public static final int CAPACITY = 64;
    /** Texts of one user's connections that are kept apart: they can hold what a connection sent. */
    private static final int MOST_OF_USER = 8;
    private static final String OTHERS = "(other errors; the log of distinct errors is full)";
    private static final Logger LOG = LoggerFactory.getLogger(DistinctErrors.class);

    private final NanoClock realtime;
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final Map<Integer, Integer> ofUsers = new HashMap<>();

    /**
     * One distinct error.
     *
     * @param text    what happened
     * @param count   how often
     * @param firstNs first time, CLOCK_REALTIME nanoseconds
     * @param lastNs  last time, CLOCK_REALTIME nanoseconds
     */
    public record Entry(String text, long count, long firstNs, long lastNs) {
    }

    /** An empty log with the clock that goes into its entries. */
    public DistinctErrors(NanoClock realtime) {
        this.realtime = realtime;
    }

    /** Notes an error of a connection of a user. */
    public void record(int uid, String text) {
        if (entries.containsKey(text)) {
            record(text);
        } else if (ofUsers.getOrDefault(uid, 0) < MOST_OF_USER) {
            ofUsers.merge(uid, 1, Integer::sum);
            record(text);
        } else {
            record("other errors of connections of user " + Integer.toUnsignedString(uid));
        }
    }

    /** Notes an error; logs it if its text is new. */
    public void record(String text) {
        long nowNs = realtime.nanoTime();
        String key = entries.containsKey(text) || entries.size() < CAPACITY ? text : OTHERS;
        Entry before = entries.get(key);
        if (before == null) {
            entries.put(key, new Entry(key, 1, nowNs, nowNs));
            LOG.warn("{}", key.equals(text) ? text : text + " " + OTHERS);
        } else {
            entries.put(key, new Entry(key, before.count + 1, before.firstNs, nowNs));
        }
    }

    /** All entries in the order of their first time. */
    public List<Entry> entries() {
        return List.copyOf(entries.values());
    }

    /** Logs what happened more than once, with its count; called at the end of the manager. */
    public void summarise() {
        for (Entry entry : entries.values()) {
            if (entry.count > 1) {
                LOG.warn("{} times: {}", entry.count, entry.text);
            }
        }
    }
}
