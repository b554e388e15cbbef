package io.tessera.manager;

import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file {@value #NAME} in the runtime directory, which exists while the manager places programs that name no device. From it {@code tessera run}
 * knows, without a request, that it has to ask the manager. On a host with one device it need not ask. One owner thread.
 */
final class PlacementSign implements Conductor.Timed {
    static final String NAME = "placement";
    private static final Logger LOG = LoggerFactory.getLogger(PlacementSign.class);

    private final FilePort files;
    private final Path file;
    private final Supplier<DevicePlacement> placement;
    private final BooleanSupplier several;
    private DevicePlacement shown;

    /**
     * Creates the sign; a file that a former manager left stays until the first {@link #doWork}.
     *
     * @param placement the current rule
     * @param several   whether there may be more than one device
     */
    PlacementSign(FilePort files, Path directory, Supplier<DevicePlacement> placement, BooleanSupplier several) {
        this.files = files;
        this.file = directory.resolve(NAME);
        this.placement = placement;
        this.several = several;
    }

    @Override
    public int doWork(long nowNs) {
        DevicePlacement now = placement.get();
        if (now == shown) {
            return 0;
        }
        shown = now;
        try {
            files.remove(file);
            if (now != DevicePlacement.NONE && several.getAsBoolean()) {
                int descriptor = files.open(file, FilePort.Open.CREATE_NEW, 0644);
                try {
                    files.write(descriptor, (now.text() + "\n").getBytes(StandardCharsets.UTF_8));
                } finally {
                    files.close(descriptor);
                }
            }
        } catch (LinuxException e) {
            LOG.warn("programs that name no device are not placed, {}: {}", file, e.getMessage());
        }
        return 1;
    }

    /** Removes the file: the manager no longer places programs. */
    void remove() {
        try {
            files.remove(file);
        } catch (LinuxException e) {
            LOG.warn("{} is not removed: {}", file, e.getMessage());
        }
    }

    @Override
    public long nextDeadlineNs() {
        return Long.MAX_VALUE; // the settings are checked every second
    }
}
