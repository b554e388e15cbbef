package io.tessera.executor.print;

import io.tessera.executor.driver.FatalErrors;
import io.tessera.os.LinuxException;
import io.tessera.os.PrintedTextPort;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Output of the driver on this process's standard output, which goes to a file. A driver prints when a thread synchronizes, and has one buffer for all kernels.
 * The client that makes it print gets all text that is there. So if several clients of one user print at the same time, one of them may get the text of others.
 * Text that may belong to another user goes to no client. Thread-safe.
 */
public final class PrintedText {
    /** Bytes that are read at a time. */
    private static final int PIECE_BYTES = 65_536;
    /** Bound on unread text, beyond which it is discarded: output of clients that never wait for their kernels. */
    private static final long MOST_UNFETCHED_BYTES = 16L << 20;
    private static final Logger LOG = LoggerFactory.getLogger(PrintedText.class);

    private final PrintedTextPort port;
    private final int descriptor;
    private final MemorySegment piece = Arena.ofAuto().allocate(PIECE_BYTES);
    private long position;
    /** Number of printing clients of each user. */
    private final Map<Integer, Integer> present = new HashMap<>();
    /** Users whose text may still arrive although their clients have left: before the last fetch, and since. */
    private Set<Integer> leftBefore = Set.of();
    private Set<Integer> left = new HashSet<>();

    /** Creates an instance over an empty file, which the caller owns and to which it has redirected the driver's output. */
    public PrintedText(PrintedTextPort port, int descriptor) {
        this.port = port;
        this.descriptor = descriptor;
    }

    /**
     * Has the driver print its buffered text, and passes it to the client.
     *
     * @param synchronise waits in the driver for work that is complete already, so that it prints; returns a CUresult
     * @param others      called if the text may belong to several users: then no client gets it
     * @return the CUresult of {@code synchronise}
     */
    public synchronized int fetch(IntSupplier synchronise, RelaySegment client, Runnable others) {
        int result = synchronise.getAsInt();
        if (FatalErrors.isFatal(result)) {
            return result;
        }
        try {
            port.flushStreams();
            boolean one = users().size() == 1;
            long first = position;
            int bytes;
            while ((bytes = port.read(descriptor, piece, position)) > 0) {
                if (one) {
                    put(client, bytes);
                }
                position += bytes;
            }
            port.forget(descriptor, position);
            leftBefore = left;
            left = new HashSet<>();
            if (!one && position > first) {
                others.run();
            }
        } catch (LinuxException e) {
            LOG.error("what kernels printed cannot be read: {}", e.getMessage());
        }
        return result;
    }

    /** Records that a client of a user prints from now on; called before its first kernel that prints is launched. */
    public synchronized void enters(int uid) {
        present.merge(uid, 1, Integer::sum);
    }

    /** Removes a client that {@link #enters entered}, and all of whose kernels have ended. */
    public synchronized void leaves(int uid) {
        left.add(uid);
        present.computeIfPresent(uid, (_, clients) -> clients == 1 ? null : clients - 1);
    }

    /** Returns all users to whom the next text may belong. */
    private Set<Integer> users() {
        Set<Integer> all = new HashSet<>(present.keySet());
        all.addAll(left);
        all.addAll(leftBefore);
        return all;
    }

    /** Passes as much text as there is room for; the rest is lost, as in a device's own buffer. */
    private void put(RelaySegment client, int bytes) {
        long printed = client.printed();
        long free = RelayLayout.PRINT_BYTES - (printed - client.printTaken());
        long taken = Math.max(0, Math.min(free, bytes));
        for (long done = 0; done < taken;) {
            long place = printed + done & RelayLayout.PRINT_BYTES - 1;
            long length = Math.min(taken - done, RelayLayout.PRINT_BYTES - place);
            MemorySegment.copy(piece, done, client.memory(), RelaySegment.PRINT + place, length);
            done += length;
        }
        client.printed(printed + taken);
    }

    /** Frees the memory of text that is not fetched. */
    public synchronized void forgetOld() {
        try {
            if (port.read(descriptor, piece.asSlice(0, 1), position + MOST_UNFETCHED_BYTES) > 0) {
                position += MOST_UNFETCHED_BYTES;
                port.forget(descriptor, position);
            }
        } catch (LinuxException e) {
            LOG.error("what kernels printed cannot be forgotten: {}", e.getMessage());
        }
    }
}
