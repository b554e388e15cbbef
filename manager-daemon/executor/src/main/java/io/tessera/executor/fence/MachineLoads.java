package io.tessera.executor.fence;

import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.program.FencedImage;
import io.tessera.executor.fence.program.MachineImages;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.executor.fence.report.ReportPage;
import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.protocol.UnfencedPolicy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the images of one client that are loaded from their machine code. These are images without PTX. If all their kernels can be fenced well enough to run
 * beside other users' programs, they are also vendors' images, whose results then agree with the native ones to the last bit, and images whose PTX would take
 * long to compile. One owner thread.
 */
final class MachineLoads {
    /** PTX that is compiled in about two seconds: the image of cuSOLVER's {@code cholesky} has 20 times as much, and took 36 s on an H200's host. */
    static final long MUCH_PTX_BYTES = 256 << 10;
    /** Switched off only for measurements. */
    private static final boolean NARROWS = !"false".equals(System.getProperty("tessera.executor.narrowCode"));
    private static final Logger LOG = LoggerFactory.getLogger(MachineLoads.class);

    private final FenceSettings settings;
    private final FencingService fencing;
    private final MachineImages images;
    private final TrustedImages trusted;
    private final WindowAccess window;
    private int count;
    /** The image that was fenced to decide whether it is preferred, and its source; {@link #take} returns it. */
    private Fenced preferred;
    private ProgramSource preferredSource;

    /** Provides the memory for reports and looks of a client. */
    @FunctionalInterface
    interface Pages {
        /**
         * Returns the page, which is made when it is needed.
         *
         * @throws ProgramRefusedException if there is no memory for it
         */
        ReportPage page() throws ProgramRefusedException;
    }

    /**
     * A cubin with fences.
     *
     * @param number by which its threads report; 0: its name cannot be told from a report
     * @param narrow makes the same with the fences of 4 GiB; null: there is none
     */
    record Fenced(FencedImage image, int number, MachineImages.Narrow narrow) {
    }

    MachineLoads(FenceSettings settings, FencingService fencing, MachineImages images, TrustedImages trusted, WindowAccess window) {
        this.window = window;
        this.settings = settings;
        this.fencing = fencing;
        this.images = images;
        this.trusted = trusted;
    }

    /**
     * Returns whether an image that has PTX is better loaded from its machine code.
     *
     * @throws ProgramRefusedException as {@link Pages#page}
     */
    boolean isPreferred(ProgramSource source, Pages pages) throws ProgramRefusedException {
        boolean considered = isOn() && settings.unfenced() == UnfencedPolicy.OWN && settings.mode() == FenceMode.MASK;
        String hash = considered ? images.hash(source) : null;
        if (hash == null) {
            return false;
        }
        boolean vendors = trusted.isVendors(hash);
        long ptxBytes = source.ptxBytes(fencing.maker().target().capability());
        Fenced fenced = vendors || ptxBytes >= MUCH_PTX_BYTES ? fence(source, pages.page()) : null;
        boolean whole = fenced != null && fenced.image().refused().isEmpty() && (vendors || fenced.image().trusted().isEmpty());
        if (fenced != null) {
            LOG.info("image {} with {} bytes of PTX is loaded from its {}", hash, ptxBytes,
                    whole ? "machine code" : "PTX: not all of its machine code can be fenced for all");
        }
        preferred = whole ? fenced : null;
        preferredSource = whole ? source : null;
        return whole;
    }

    /**
     * Fences the cubin that a driver would load from an image.
     *
     * @return null: it stays unfenced
     * @throws ProgramRefusedException as {@link Pages#page}
     */
    Fenced take(ProgramSource source, Pages pages) throws ProgramRefusedException {
        Fenced ready = preferredSource == source ? preferred : null;
        preferred = null;
        preferredSource = null;
        return ready != null ? ready : isOn() ? fence(source, pages.page()) : null;
    }

    /**
     * Returns an image that a driver is to load as it is, after a check.
     *
     * @throws ProgramRefusedException if it is damaged, which ends the process in some drivers
     */
    ProgramSource readable(ProgramSource source) throws ProgramRefusedException {
        if (fencing.maker().target().compiles()) {
            images.requireReadable(source);
        }
        return source;
    }

    private boolean isOn() {
        return !FenceSettings.MACHINE_CODE_AS_IT_IS && !FenceSettings.UNPROTECTED && fencing.maker().target().compiles();
    }

    private Fenced fence(ProgramSource source, ReportPage page) {
        count = Math.min(count + 1, MachineFence.MOST_REPORT_VALUES);
        int number = count % MachineFence.MOST_REPORT_VALUES; // 0: no name
        FencedImage image = images.fence(source, page.machineWord(), page.stopWord(), number);
        return image == null ? null
                : new Fenced(image, number, NARROWS && window.isNarrow() ? images.narrow(source, page.machineWord(), page.stopWord(), number) : null);
    }
}
