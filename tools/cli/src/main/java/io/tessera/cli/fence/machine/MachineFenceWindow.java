package io.tessera.cli.fence.machine;

import io.tessera.cli.text.Sizes;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.window.WindowLayout;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/** The window for which machine code is fenced. Stateless. */
public final class MachineFenceWindow {
    /** What {@link #of} accepts, for messages. */
    public static final String ACCEPTED = "a power of two from 4G to 4T";
    /** Lowest address of a window, a multiple of every window size. */
    private static final long START = 1L << 45;
    /** Address of the words for reports, which executors keep outside every window. */
    private static final long REPORT_ADDRESS = START;

    private MachineFenceWindow() {
    }

    /**
     * Returns the fence that an executor would use for a window of a size like {@code 128G}; empty if no window has that size. It has no
     * checks of a stop word, which do not affect what is fenced.
     */
    public static Optional<MachineFence> of(String size) {
        OptionalLong bytes = Sizes.parse(size);
        if (bytes.isEmpty() || Long.bitCount(bytes.getAsLong()) != 1 || bytes.getAsLong() < WindowLayout.MIN_SIZE_BYTES
                || bytes.getAsLong() > WindowLayout.MAX_SIZE_BYTES) {
            return Optional.empty();
        }
        return Optional.of(MachineFence.of(START + bytes.getAsLong(), bytes.getAsLong()).reporting(REPORT_ADDRESS, 1));
    }

    static long sizeBytes(MachineFence fence) {
        return fence.mask() + 1L << 32;
    }

    /** {@code fence mask, window of 128.0 GiB}. */
    static String text(MachineFence fence) {
        return "fence " + fence.kind().name().toLowerCase(Locale.ROOT).replace('_', '-') + ", window of " + Sizes.format(sizeBytes(fence));
    }
}
