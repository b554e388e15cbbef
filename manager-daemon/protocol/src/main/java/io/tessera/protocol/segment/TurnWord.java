package io.tessera.protocol.segment;

/**
 * The turn word of a device: {@code epoch << 8 | state}, written by the manager alone. The epoch grows by one at every write, so an answer identifies
 * its order (SPEC.md, section 3).
 */
public final class TurnWord {
    /** The client must not submit: drain, then acknowledge. */
    public static final int CLOSED = 0;
    /** The client may submit beside others. */
    public static final int FREE = 1;
    /** The client may submit, alone. */
    public static final int GRANTED = 2;

    private TurnWord() {
    }

    /** Packs a word. */
    public static long of(long epoch, int state) {
        return epoch << 8 | state;
    }

    /** Returns the epoch of a word. */
    public static long epoch(long word) {
        return word >>> 8;
    }

    /** Returns the state of a word, 0 to 255; values above {@link #GRANTED} have no meaning. */
    public static int state(long word) {
        return (int) (word & 0xff);
    }
}
