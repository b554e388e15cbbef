package io.tessera.cli.doctor;

import io.tessera.cli.text.FileProblem;
import io.tessera.cli.text.Sizes;
import io.tessera.protocol.segment.SegmentLayout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Checks whether a manager would accept the directory of the clients' segments (SPEC.md, section 1), and whether it has room for them. */
final class SharedMemoryCheck implements DoctorCheck {
    private static final String SUBJECT = "shared memory";
    /** Number of clients for which there must be room: usual for a host with GPUs. */
    private static final int CLIENTS_EXPECTED = 64;
    private static final Set<PosixFilePermission> OTHERS_WRITE = Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

    private final Path folder;
    private final int manager;

    /**
     * Creates a check of an existing folder, or of the file system of its nearest existing parent, in which it will be created.
     *
     * @param manager the user whose manager creates it
     */
    SharedMemoryCheck(Path folder, int manager) {
        this.folder = folder;
        this.manager = manager;
    }

    /** Returns why a manager would refuse it; empty: it would not, or the folder does not exist yet. */
    private Optional<String> unfit() throws IOException {
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        PosixFileAttributes attributes = Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!attributes.isDirectory()) {
            return Optional.of("is a link or no directory");
        }
        int owner = (Integer) Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        if (owner != manager) {
            return Optional.of("belongs to user " + owner + ", the manager is user " + manager);
        }
        return attributes.permissions().stream().anyMatch(OTHERS_WRITE::contains) ? Optional.of("can be written to by others") : Optional.empty();
    }

    @Override
    public List<DoctorFinding> findings() {
        try {
            Optional<String> unfit = unfit();
            if (unfit.isPresent()) {
                return List.of(DoctorFinding.problem(SUBJECT, folder + " " + unfit.get(),
                        "have it removed by its owner or an administrator, or name another in TESSERA_SHM_DIR"));
            }
        } catch (IOException e) {
            return List.of(DoctorFinding.problem(SUBJECT, "cannot look at " + folder + " (" + FileProblem.of(e) + ")",
                    "repair it, or name another in TESSERA_SHM_DIR"));
        }
        Path existing = folder.toAbsolutePath();
        while (!Files.isDirectory(existing)) {
            existing = existing.getParent();
        }
        long usableBytes;
        try {
            usableBytes = Files.getFileStore(existing).getUsableSpace();
        } catch (IOException e) {
            return List.of(DoctorFinding.problem(SUBJECT, "cannot look at " + existing + " (" + FileProblem.of(e) + ")",
                    "mount a tmpfs at /dev/shm, or name a folder in TESSERA_SHM_DIR"));
        }
        long clients = usableBytes / SegmentLayout.SEGMENT_BYTES;
        String text = existing + ": " + Sizes.format(usableBytes) + " free, room for " + clients + " more clients";
        String advice = "remove files from it, or make it larger (containers: --shm-size)";
        if (clients == 0) {
            return List.of(DoctorFinding.problem(SUBJECT, text, advice));
        }
        return List.of(clients < CLIENTS_EXPECTED ? DoctorFinding.note(SUBJECT, text, advice) : DoctorFinding.ok(SUBJECT, text));
    }
}
