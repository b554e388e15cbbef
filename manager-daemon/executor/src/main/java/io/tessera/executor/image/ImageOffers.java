package io.tessera.executor.image;

import io.tessera.os.ForeignFilePort;
import io.tessera.os.LinuxException;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files that one client has handed over but not yet named in a call. {@link #add} is called by the thread of the connections, {@link #take} by the client's;
 * thread-safe.
 */
public final class ImageOffers implements AutoCloseable {
    /** Maximum number of offers: a client's threads may load at the same time, but descriptors are scarce. */
    private static final int MOST = 32;
    private static final Logger LOG = LoggerFactory.getLogger(ImageOffers.class);

    private final ForeignFilePort files;
    private final Map<Long, Offer> offers = new HashMap<>();
    private long lastNumber;

    /**
     * An image in a file.
     *
     * @param descriptor of the file, closed by the taker of the offer
     * @param offset     from the file's start
     * @param bytes      how long it is
     */
    public record Offer(int descriptor, long offset, long bytes) {
    }

    /** Creates an empty set of offers. */
    public ImageOffers(ForeignFilePort files) {
        this.files = files;
    }

    /** Keeps an offer and its descriptor. Returns its number; 0: there are too many, the descriptor is the caller's. */
    public synchronized long add(Offer offer) {
        if (offers.size() >= MOST) {
            return 0;
        }
        offers.put(++lastNumber, offer);
        return lastNumber;
    }

    /** Returns the offer of a number, which the caller owns from now on; null if there is none. */
    public synchronized Offer take(long number) {
        return offers.remove(number);
    }

    /** Closes what was never named. */
    @Override
    public synchronized void close() {
        for (Offer offer : offers.values()) {
            try {
                files.close(offer.descriptor());
            } catch (LinuxException e) {
                LOG.warn("a file of a client that is gone: {}", e.getMessage());
            }
        }
        offers.clear();
    }
}
