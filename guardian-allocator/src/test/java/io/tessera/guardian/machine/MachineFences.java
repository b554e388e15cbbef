package io.tessera.guardian.machine;

import java.util.stream.Stream;

/** The fences that tests use. */
public final class MachineFences {
    /** Lays code out again and changes nothing. */
    public static final MachineFence NONE = new MachineFence(MachineFence.Kind.NONE, 0x2000, 0);
    /** A window of 4 GiB. */
    public static final MachineFence LOW_WORD = MachineFence.of(0x2001_0000_0000L, 1L << 32);
    /** A window of 128 GiB. */
    public static final MachineFence MASK = MachineFence.of(0x2040_0000_0000L, 1L << 37);

    private MachineFences() {
    }

    /** Returns the fences that keep addresses in a window. */
    public static Stream<MachineFence> windows() {
        return Stream.of(LOW_WORD, MASK);
    }

    /** All of them. */
    public static Stream<MachineFence> all() {
        return Stream.of(NONE, LOW_WORD, MASK);
    }
}
