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
 * <p>Holds at most {@value #CAPACITY} texts, because peers can choose texts freely; all further ones are counted together.
 */
public final class DistinctErrors {
    /** Number of texts that are kept apart; the same as in a client's segment. */
    public static final int CAPACITY = 64;
    /** Number of texts of one user's connections that are kept apart: they can contain what a connection sent. */
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
     * @param count   number of occurrences
     * @param firstNs first time, CLOCK_REALTIME nanoseconds
     * @param lastNs  last time, CLOCK_REALTIME nanoseconds
     */
    public record Entry(String text, long count, long firstNs, long lastNs) {
    }

    /** Creates an empty log with the clock for its entries. */
    public DistinctErrors(NanoClock realtime) {
        this.realtime = realtime;
    }

    /** Records an error of a connection of a user. */
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

    /** Records an error; logs it if its text is new. */
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

    /** Returns all entries in the order of their first time. */
    public List<Entry> entries() {
        return List.copyOf(entries.values());
    }

    /** Logs what happened more than once, with its count; called when the manager ends. */
    public void summarise() {
        for (Entry entry : entries.values()) {
            if (entry.count > 1) {
                LOG.warn("{} times: {}", entry.count, entry.text);
            }
        }
    }
}
