package io.tessera.cli.doctor;

import io.tessera.cli.text.Sizes;
import io.tessera.protocol.SegmentLayout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Whether there is room for the clients' segments. */
final class SharedMemoryCheck implements Check {
    private static final String SUBJECT = "shared memory";
    /** Room that a host with a usual number of programs on its GPUs needs. */
    private static final int CLIENTS_EXPECTED = 64;

    private final Path folder;

    /** Looks at the file system of a folder that is there, or that will be made in the nearest one above it. */
    SharedMemoryCheck(Path folder) {
        this.folder = folder;
    }

    @Override
    public List<Finding> findings() {
        Path existing = folder.toAbsolutePath();
        while (!Files.isDirectory(existing)) {
            existing = existing.getParent();
        }
        long usableBytes;
        try {
            usableBytes = Files.getFileStore(existing).getUsableSpace();
        } catch (IOException e) {
            return List.of(Finding.problem(SUBJECT, "cannot look at " + existing + " (" + e + ")",
                    "mount a tmpfs at /dev/shm, or name a folder in TESSERA_SHM_DIR"));
        }
        long clients = usableBytes / SegmentLayout.SEGMENT_BYTES;
        String text = existing + ": " + Sizes.format(usableBytes) + " free, room for " + clients + " more clients";
        String advice = "remove files from it, or make it larger (containers: --shm-size)";
        if (clients == 0) {
            return List.of(Finding.problem(SUBJECT, text, advice));
        }
        return List.of(clients < CLIENTS_EXPECTED ? Finding.note(SUBJECT, text, advice) : Finding.ok(SUBJECT, text));
    }
}
