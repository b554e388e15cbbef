package io.tessera.executor.image;

import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.os.FileIdentity;
import io.tessera.os.ForeignFilePort;
import io.tessera.os.LinuxException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Images that were read from files, for all clients of an executor. A file is identified by the kernel's metadata, so the bytes of a library are read only for
 * the first client that loads it. Each image is a private copy that no client can change. It stays as long as it is referenced, or as long as there is room.
 * Thread-safe.
 */
public final class ImageStore {
    /** File times have a coarse resolution, so a file that changed more recently than this may change again with the same identity. */
    private static final long SETTLED_NS = 2_000_000_000L;
    /** Longest wait for another client that reads the same image, possibly from a slow disk. */
    private static final long PATIENCE_S = 120;
    private static final long SECOND_NS = 1_000_000_000L;

    private final ForeignFilePort files;
    private final InstantSource clock;
    private final long mostBytes;
    /** In the order of last use. */
    private final Map<Place, CompletableFuture<ProgramSource>> images = new LinkedHashMap<>(16, 0.75f, true);
    private long keptBytes;
    /** Bytes of all copies that are referenced. */
    private final AtomicLong liveBytes = new AtomicLong();

    private record Place(FileIdentity file, long offset, long bytes) {
    }

    /**
     * Creates an empty store.
     *
     * @param clock     for the age of files
     * @param mostBytes maximum that is kept; twice as much may be in use
     */
    public ImageStore(ForeignFilePort files, InstantSource clock, long mostBytes) {
        this.files = files;
        this.clock = clock;
        this.mostBytes = mostBytes;
    }

    /** Returns the bytes of all copies that are referenced. */
    public long liveBytes() {
        return liveBytes.get();
    }

    /**
     * Returns the image of an offer; closes its descriptor.
     *
     * @return null if the file cannot be used, and the client has to send the bytes: the file is too short or not a regular one, the image is longer than a fat
     * binary can be, it cannot be read, or there is no room
     */
    public ProgramSource take(ImageOffers.Offer offer) throws LinuxException {
        try {
            FileIdentity file = files.identity(offer.descriptor());
            if (!file.regular() || offer.offset() < 0 || offer.bytes() <= 0 || offer.bytes() > Integer.MAX_VALUE
                    || offer.bytes() > file.bytes() - offer.offset()) {
                return null;
            }
            return find(offer, file, new Place(file, offer.offset(), offer.bytes()));
        } finally {
            files.close(offer.descriptor());
        }
    }

    private ProgramSource find(ImageOffers.Offer offer, FileIdentity file, Place place) throws LinuxException {
        CompletableFuture<ProgramSource> own = new CompletableFuture<>();
        CompletableFuture<ProgramSource> others;
        synchronized (this) {
            others = images.get(place);
            if (others == null) {
                images.put(place, own);
                keptBytes += place.bytes();
                evict(place);
            }
        }
        if (others != null) {
            return await(others);
        }
        ProgramSource read = null;
        boolean steady = false;
        try {
            read = read(offer);
            steady = read != null && isSettled(file) && files.identity(offer.descriptor()).equals(file);
            return read;
        } finally {
            if (!steady) {
                forget(place, own);
            }
            own.complete(read);
        }
    }

    private static ProgramSource await(CompletableFuture<ProgramSource> others) {
        try {
            return others.get(PATIENCE_S, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    private boolean isSettled(FileIdentity file) {
        Instant now = clock.instant();
        long nowNs = now.getEpochSecond() * SECOND_NS + now.getNano();
        return nowNs - Math.max(file.changedNs(), file.modifiedNs()) > SETTLED_NS;
    }

    /** Reads an image; null if there is no room or the file has become shorter. */
    private ProgramSource read(ImageOffers.Offer offer) throws LinuxException {
        long bytes = offer.bytes();
        if (liveBytes.addAndGet(bytes) > 2 * mostBytes) {
            liveBytes.addAndGet(-bytes);
            System.gc(); // memory of images that are no longer referenced is only given back now
            return null;
        }
        boolean done = false;
        try {
            var memory = files.read(offer.descriptor(), offer.offset(), bytes, () -> liveBytes.addAndGet(-bytes));
            done = memory != null;
            return done ? ProgramSource.kept(memory) : null;
        } finally {
            if (!done) {
                liveBytes.addAndGet(-bytes);
            }
        }
    }

    private synchronized void forget(Place place, CompletableFuture<ProgramSource> own) {
        if (images.remove(place, own)) {
            keptBytes -= place.bytes();
        }
    }

    /** Drops the least recently used images, except the newest. An image in use stays with its user. */
    private void evict(Place newest) {
        Iterator<Place> oldest = images.keySet().iterator();
        while (keptBytes > mostBytes && oldest.hasNext()) {
            Place place = oldest.next();
            if (!place.equals(newest)) {
                oldest.remove();
                keptBytes -= place.bytes();
            }
        }
    }
}
