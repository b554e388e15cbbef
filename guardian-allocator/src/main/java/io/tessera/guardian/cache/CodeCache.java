package io.tessera.guardian.cache;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The compiled code in one directory. An entry is written to a file of its own, made durable and then given its name in
 * one step: a reader sees a whole entry or none, whenever a writer dies. Two that write the same entry at once write the
 * same; the later one's file stays. Thread-safe; shared by processes of one user.
 *
 * <p>Nothing here throws for what happens on disk: a lookup that fails is a miss, a store that fails is none. The first failure is logged
 * in one line, and storing rests for a while after one, so that a full disk costs nothing.
 */
public final class CodeCache {
    /** Default limit of the directory's size. */
    public static final long DEFAULT_LIMIT_BYTES = 2L << 30;
    private static final String ENTRY = ".code";
    /** How long nothing is stored after a failure. */
    private static final Duration REST = Duration.ofMinutes(1);

    /** Null if there is no directory; then nothing is cached. */
    private final EntryFiles files;
    private final Evictor evictor;
    private final long limitBytes;
    private final InstantSource clock;
    private final Consumer<String> notice;
    private final SecureRandom names = new SecureRandom();
    private final AtomicLong hits = new AtomicLong();
    private final AtomicLong misses = new AtomicLong();
    private final AtomicLong stored = new AtomicLong();
    private final AtomicLong damaged = new AtomicLong();
    private final AtomicLong evicted = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private volatile Instant restsUntil = Instant.MIN;

    CodeCache(EntryFiles files, long limitBytes, InstantSource clock, Consumer<String> notice) {
        this.files = files;
        this.limitBytes = limitBytes;
        this.clock = clock;
        this.notice = Objects.requireNonNull(notice);
        evictor = files == null ? null : new Evictor(files, limitBytes);
        if (files != null) {
            try {
                evicted.addAndGet(evictor.look(clock.instant()));
            } catch (IOException e) {
                failed(e);
            }
        }
    }

    /**
     * Opens the cache in a directory, which is created if it does not exist. The size is at most the limit afterwards.
     *
     * @param directory  see {@link CacheLocation}; the cache uses a folder {@code v1} in it
     * @param limitBytes limit of the space that all entries together take on disk
     * @param clock      the wall clock, which orders entries by use
     * @param notice     takes one line when the cache cannot be used, with the reason; called at most once
     * @return a cache that keeps nothing, if the directory cannot be used or belongs to another user
     */
    public static CodeCache open(Path directory, long limitBytes, InstantSource clock, Consumer<String> notice) {
        try {
            return new CodeCache(new EntryDirectory(directory.resolve("v" + EntryFormat.VERSION)), limitBytes, clock,
                    notice);
        } catch (IOException e) {
            notice.accept("compiled code is not cached: " + reason(e));
            return none();
        }
    }

    /** A cache that never has anything. */
    public static CodeCache none() {
        return new CodeCache(null, 0, InstantSource.system(), _ -> {});
    }

    /** The code of a key. A file under its name that is not exactly that is deleted and counted. */
    public Optional<CachedCode> find(CacheKey key) {
        if (files == null) {
            misses.incrementAndGet();
            return Optional.empty();
        }
        String name = key.hex() + ENTRY;
        Optional<CachedCode> found = Optional.empty();
        try {
            found = EntryFormat.parse(key, files.read(name));
            if (found.isEmpty()) {
                damaged.incrementAndGet();
                files.delete(name);
            }
        } catch (NoSuchFileException e) {
            found = Optional.empty();
        } catch (IOException e) {
            failed(e);
        }
        (found.isPresent() ? hits : misses).incrementAndGet();
        if (found.isPresent()) {
            used(name);
        }
        return found;
    }

    /**
     * Stores code under a key; replaces an existing entry.
     *
     * @return true if the code is on disk now
     */
    public boolean store(CacheKey key, CachedCode code) {
        long size = EntryFormat.HEADER_BYTES + code.sizeBytes();
        if (files == null || size > limitBytes || size > Integer.MAX_VALUE - 8
                || clock.instant().isBefore(restsUntil)) {
            return false;
        }
        String unfinished = key.hex() + "-" + Long.toHexString(names.nextLong()) + Evictor.UNFINISHED;
        try {
            write(unfinished, key, code);
            files.rename(unfinished, key.hex() + ENTRY);
        } catch (IOException e) {
            failed(e);
            discard(unfinished);
            return false;
        }
        stored.incrementAndGet();
        try {
            synchronized (evictor) {
                evicted.addAndGet(evictor.added(size, clock.instant()));
            }
        } catch (IOException e) {
            failed(e);
        }
        return true;
    }

    /** Returns a snapshot of the counters. */
    public CacheCounters counters() {
        return new CacheCounters(hits.get(), misses.get(), stored.get(), damaged.get(), evicted.get(), failed.get());
    }

    private void write(String name, CacheKey key, CachedCode code) throws IOException {
        try (EntryFiles.NewFile file = files.create(name)) {
            file.write(EntryFormat.header(key, code));
            file.write(ByteBuffer.wrap(code.code()));
            file.write(ByteBuffer.wrap(code.tables()));
            file.force();
        }
    }

    private void used(String name) {
        try {
            files.touch(name, clock.instant());
        } catch (IOException e) {
            failed(e);
        }
    }

    /** A file that cannot be deleted now is deleted by the next process that tidies up. */
    private void discard(String unfinished) {
        try {
            files.delete(unfinished);
        } catch (IOException e) {
            failed(e);
        }
    }

    private void failed(IOException e) {
        restsUntil = clock.instant().plus(REST);
        if (failed.getAndIncrement() == 0) {
            notice.accept("compiled code is not cached for now: " + reason(e));
        }
    }

    private static String reason(IOException e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }
}
