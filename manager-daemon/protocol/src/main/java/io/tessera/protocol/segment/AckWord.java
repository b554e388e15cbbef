package io.tessera.protocol.segment;

/**
 * The acknowledgement word of a device: {@code epoch << 8 | state}, written by the client alone. The epoch is that of the turn word that it answers
 * (SPEC.md, section 3).
 */
public final class AckWord {
    /** Gate closed, no thread inside the driver, contexts idle. */
    public static final int CLOSED = 0;
    /** Gate open. */
    public static final int OPEN = 1;
    /** Gate closed, work of the turn still running. */
    public static final int DRAINING = 2;
    /** Turn given back early: gate closed, contexts idle. */
    public static final int RELEASED = 3;

    private AckWord() {
    }

    /** Packs a word. */
    public static long of(long epoch, int state) {
        return epoch << 8 | state;
    }

    /** Returns the epoch of a word. */
    public static long epoch(long word) {
        return word >>> 8;
    }

    /** Returns the state of a word, 0 to 255; values above {@link #RELEASED} have no meaning. */
    public static int state(long word) {
        return (int) (word & 0xff);
    }
}
