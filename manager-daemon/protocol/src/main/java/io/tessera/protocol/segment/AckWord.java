package io.tessera.protocol.segment;

/**
 * The acknowledgement word of a device: {@code epoch << 8 | state}, written by the client alone; the epoch is that of
 * the turn word which it answers (SPEC.md, section 3).
 */
public final class AckWord {
    /** Gate closed, nothing inside the driver, contexts idle. */
    public static final int CLOSED = 0;
    /** Gate open. */
    public static final int OPEN = 1;
    /** Gate closed, work of the turn still running. */
    public static final int DRAINING = 2;
    /** Given back before it was asked for: closed and idle. */
    public static final int RELEASED = 3;

    private AckWord() {
    }

    /** Packs a word. */
    public static long of(long epoch, int state) {
        return epoch << 8 | state;
    }

    /** Epoch of a word. */
    public static long epoch(long word) {
        return word >>> 8;
    }

    /** State of a word, 0 to 255; values above {@link #RELEASED} have no meaning. */
    public static int state(long word) {
        return (int) (word & 0xff);
    }
}
