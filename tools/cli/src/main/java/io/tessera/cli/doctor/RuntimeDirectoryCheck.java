package io.tessera.cli.doctor;

import io.tessera.cli.text.FileProblem;
import io.tessera.cli.text.Sizes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** Checks whether a manager would accept the runtime directory (SPEC.md, section 1). */
final class RuntimeDirectoryCheck implements DoctorCheck {
    private static final String SUBJECT = "runtime directory";
    /** sockaddr_un holds 108 bytes with the final NUL; {@code /control.sock} is the longest name in there. */
    private static final int MAX_PATH_BYTES = 107 - "/control.sock".length();

    /** Minimum free space: a manager needs it for its pid file and the first lines of its log. */
    private static final long LEAST_BYTES = 64 << 10;

    private final Path directory;
    private final int self;

    RuntimeDirectoryCheck(Path directory, int self) {
        this.self = self;
        this.directory = directory;
    }

    @Override
    public List<DoctorFinding> findings() {
        int bytes = directory.toString().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_PATH_BYTES) {
            return problem("its name has " + bytes + " bytes, more than the " + MAX_PATH_BYTES
                    + " that a socket's address has room for");
        }
        PosixFileAttributes attributes;
        int owner;
        long usableBytes;
        try {
            if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
                return List.of(DoctorFinding.ok(SUBJECT, directory + ": not there yet, the first start makes it"));
            }
            attributes = Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            owner = (Integer) Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            usableBytes = Files.getFileStore(directory).getUsableSpace();
        } catch (IOException e) {
            return problem("cannot be looked at (" + FileProblem.of(e) + ")");
        }
        if (!attributes.isDirectory()) {
            return problem("is a link or no directory");
        }
        // Root's directory is open to every user; any other must be the user's own.
        if (owner != self && owner != 0) {
            return problem("belongs to user " + owner + ", not to you (" + self + ")");
        }
        if (attributes.permissions().contains(PosixFilePermission.GROUP_WRITE)
                || attributes.permissions().contains(PosixFilePermission.OTHERS_WRITE)) {
            return problem("can be written to by others");
        }
        if (usableBytes < LEAST_BYTES) {
            return List.of(DoctorFinding.problem(SUBJECT, "no space left on the file system of " + directory + " (" + Sizes.format(usableBytes) + ")",
                    "make room there, or name another directory in TESSERA_RUNTIME_DIR"));
        }
        if (owner == self && !attributes.permissions().containsAll(PosixFilePermissions.fromString("rwx------"))) {
            return List
                    .of(DoctorFinding.problem(SUBJECT, directory + " has the permissions " + PosixFilePermissions.toString(attributes.permissions())
                            + ": you cannot use it yourself", "chmod u+rwx it"));
        }
        return List.of(DoctorFinding.ok(SUBJECT, directory.toString()));
    }

    private List<DoctorFinding> problem(String what) {
        return List.of(DoctorFinding.problem(SUBJECT, directory + " " + what,
                "repair or remove it, or name another in TESSERA_RUNTIME_DIR"));
    }
}
