package io.tessera.guardian.cache;

import io.tessera.guardian.cache.EntryFiles.Listed;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Keeps the directory below its limit: the entries that were used least recently go first. Also takes away what dead
 * writers left. Only one process does it at a time; the others go on. Not thread-safe.
 */
final class Evictor {
    /** End of the names of files that are being written. */
    static final String UNFINISHED = ".new";
    /** A write takes seconds at most; what is older was left by a process that died. */
    static final Duration ABANDONED = Duration.ofMinutes(10);
    /** Evicting to below the limit saves looking at the directory at every store. */
    private static final double REFILL = 0.9;
    /** The part of the limit that this process adds before it looks what others added. */
    private static final int LOOKS_PER_LIMIT = 16;

    private final EntryFiles files;
    private final long limitBytes;
    private long seenBytes;
    private long addedBytes;

    Evictor(EntryFiles files, long limitBytes) {
        this.files = files;
        this.limitBytes = limitBytes;
    }

    /** Checks the directory regardless of the bytes added; returns the number of entries deleted. */
    int look(Instant now) throws IOException {
        Optional<Closeable> lock = files.tryLock();
        if (lock.isEmpty()) {
            return 0;
        }
        try (Closeable _ = lock.get()) {
            return tidy(now);
        }
    }

    /** Records that this process added an entry, and checks the directory if the limit may be exceeded. */
    int added(long bytes, Instant now) throws IOException {
        addedBytes += bytes;
        boolean due = seenBytes + addedBytes > limitBytes || addedBytes > limitBytes / LOOKS_PER_LIMIT;
        return due ? look(now) : 0;
    }

    private int tidy(Instant now) throws IOException {
        long total = 0;
        for (Listed file : files.list()) {
            // After a clock was set back, files have dates in the future; those do not count as abandoned.
            boolean abandoned = file.name().endsWith(UNFINISHED)
                    && file.lastUsed().isBefore(now.minus(ABANDONED));
            if (abandoned) {
                files.delete(file.name());
            } else {
                total += file.bytes();
            }
        }
        seenBytes = total;
        addedBytes = 0;
        return total > limitBytes ? evict(total) : 0;
    }

    private int evict(long total) throws IOException {
        long goal = (long) (limitBytes * REFILL);
        long left = total;
        int evicted = 0;
        List<Listed> oldestFirst = files.list().stream().filter(file -> !file.name().endsWith(UNFINISHED))
                .sorted(Comparator.comparing(Listed::lastUsed)).toList();
        for (Listed file : oldestFirst) {
            if (left <= goal) {
                break;
            }
            if (files.delete(file.name())) {
                evicted++;
            }
            left -= file.bytes();
        }
        seenBytes = left;
        return evicted;
    }
}
