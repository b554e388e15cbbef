package io.tessera.executor.fence.load;

import io.tessera.executor.fence.program.FencedImage;
import io.tessera.executor.fence.program.ProgramSource;
import java.util.Optional;

/** An image without PTX that the driver has. One owner thread. */
final class MachineImage {
    /** The image as the driver got it, while it is loaded; empty if there is none. */
    private final Optional<ProgramSource> source;
    /** The fenced image; null: it is loaded as it is. */
    private final PlacedImage placed;
    private final boolean vendors;
    /** The worst grade of its kernels that have run, or were put into graphs. */
    private MachineGrade grade;
    /** Whether such a kernel may have left the window. */
    private boolean left;

    MachineImage(Optional<ProgramSource> source, PlacedImage placed, boolean vendors) {
        this.source = source;
        this.placed = placed == null ? null : placed.loaded();
        this.vendors = vendors;
        this.grade = placed == null ? MachineGrade.UNFENCED : MachineGrade.SHOWN;
    }

    boolean reports() {
        return placed != null && placed.image().reports();
    }

    MachineGrade grade() {
        return grade;
    }

    boolean keepsOthersOut() {
        return left;
    }

    /** Records that such a kernel runs. Returns whether that changes the image's figures. */
    boolean runs(MachineGrade kernel) {
        boolean lower = kernel.compareTo(grade) > 0;
        boolean first = !kernel.isForAll() && !left;
        grade = lower ? kernel : grade;
        left |= first;
        return lower || first;
    }

    /** Returns the fenced image; null: it is loaded as it is. */
    FencedImage fenced() {
        return placed == null ? null : placed.image();
    }

    /** Returns the placed image; null: it is loaded as it is. */
    PlacedImage placed() {
        return placed;
    }

    /** Returns whether it is one of a vendor's. */
    boolean isVendors() {
        return vendors;
    }
}
