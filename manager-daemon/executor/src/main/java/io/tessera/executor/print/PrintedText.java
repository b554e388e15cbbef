package io.tessera.executor.print;

import io.tessera.executor.driver.FatalErrors;
import io.tessera.os.LinuxException;
import io.tessera.os.PrintedTextPort;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the driver prints on this process's standard output, where a file takes it. A driver prints when somebody
 * synchronises, into one buffer for all: whoever makes it print takes what there is, so that text of clients that print at
 * the same time may come to one of them. Thread-safe.
 */
public final class PrintedText {
    /** Read at a time. */
    private static final int PIECE_BYTES = 65_536;
    /** Text that nobody fetched is forgotten from here on: kernels of clients that never wait for them. */
    private static final long MOST_UNFETCHED_BYTES = 16L << 20;
    private static final Logger LOG = LoggerFactory.getLogger(PrintedText.class);

    private final PrintedTextPort port;
    private final int descriptor;
    private final MemorySegment piece = Arena.ofAuto().allocate(PIECE_BYTES);
    private long position;

    /** Over an empty file, which the caller owns and has put where the driver prints. */
    public PrintedText(PrintedTextPort port, int descriptor) {
        this.port = port;
        this.descriptor = descriptor;
    }

    /**
     * Has the driver print what it holds back, and puts that where the client reads it.
     *
     * @param synchronise waits in the driver for what is complete already, so that it prints; its CUresult
     * @return the CUresult of that
     */
    public synchronized int fetch(IntSupplier synchronise, RelaySegment client) {
        int result = synchronise.getAsInt();
        if (FatalErrors.isFatal(result)) {
            return result;
        }
        try {
            port.flushStreams();
            int bytes;
            while ((bytes = port.read(descriptor, piece, position)) > 0) {
                put(client, bytes);
                position += bytes;
            }
            port.forget(descriptor, position);
        } catch (LinuxException e) {
            LOG.error("what kernels printed cannot be read: {}", e.getMessage());
        }
        return result;
    }

    /** As much as there is room for; the rest is lost, as in a device's own buffer. */
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

    /** Gives the memory of text back that nobody fetches. */
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
