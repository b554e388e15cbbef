package io.tessera.guardian.cache;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A directory on disk that belongs to this user alone. Immutable. */
final class EntryDirectory implements EntryFiles {
    private static final Set<PosixFilePermission> OWNER_ALONE = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> OWNER_FILE = PosixFilePermissions.fromString("rw-------");
    private static final String LOCK = "lock";

    private final Path directory;

    /**
     * Opens the directory, which is created if it does not exist.
     *
     * @throws IOException if it cannot be created, is a link, or belongs to another user
     */
    EntryDirectory(Path directory) throws IOException {
        this.directory = directory;
        Path parent = directory.toAbsolutePath().getParent();
        Files.createDirectories(parent, PosixFilePermissions.asFileAttribute(OWNER_ALONE));
        if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
            makeOrMeet();
        }
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileSystemException(directory.toString(), null, "is no directory");
        }
        // Reading this process's user from /proc needs no native call and no privilege.
        Object self = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        if (!self.equals(Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS))) {
            throw new FileSystemException(directory.toString(), null, "belongs to somebody else");
        }
        if (!Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS).equals(OWNER_ALONE)) {
            Files.setPosixFilePermissions(directory, OWNER_ALONE);
        }
    }

    /** Another process may make it at the same moment; that one is as good. */
    private void makeOrMeet() throws IOException {
        try {
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(OWNER_ALONE));
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        }
    }

    @Override
    public List<Listed> list() throws IOException {
        List<Listed> found = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                try {
                    BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class,
                            LinkOption.NOFOLLOW_LINKS);
                    if (attributes.isRegularFile() && !file.getFileName().toString().equals(LOCK)) {
                        found.add(new Listed(file.getFileName().toString(), attributes.size(),
                                attributes.lastModifiedTime().toInstant()));
                    }
                } catch (NoSuchFileException e) {
                    continue; // deleted by another process since it was listed
                }
            }
        }
        return found;
    }

    @Override
    public byte[] read(String name) throws IOException {
        try (FileChannel file = FileChannel.open(directory.resolve(name), StandardOpenOption.READ,
                LinkOption.NOFOLLOW_LINKS)) {
            ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(Math.min(file.size(), Integer.MAX_VALUE - 8)));
            int got = 0;
            while (got >= 0 && bytes.hasRemaining()) {
                got = file.read(bytes);
            }
            return bytes.hasRemaining() ? Arrays.copyOf(bytes.array(), bytes.position()) : bytes.array();
        }
    }

    @Override
    public NewFile create(String name) throws IOException {
        FileChannel file = FileChannel.open(directory.resolve(name),
                Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
                PosixFilePermissions.asFileAttribute(OWNER_FILE));
        return new NewFile() {
            @Override
            public void write(ByteBuffer bytes) throws IOException {
                while (bytes.hasRemaining()) {
                    file.write(bytes);
                }
            }

            @Override
            public void force() throws IOException {
                file.force(true);
            }

            @Override
            public void close() throws IOException {
                file.close();
            }
        };
    }

    @Override
    public void rename(String from, String to) throws IOException {
        try {
            Files.move(directory.resolve(from), directory.resolve(to), StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            throw new FileSystemException(directory.toString(), null, "files cannot be renamed in one step there");
        }
        try (FileChannel itself = FileChannel.open(directory, StandardOpenOption.READ)) {
            itself.force(true);
        }
    }

    @Override
    public boolean delete(String name) throws IOException {
        return Files.deleteIfExists(directory.resolve(name));
    }

    @Override
    public void touch(String name, Instant when) throws IOException {
        try {
            Files.setLastModifiedTime(directory.resolve(name), FileTime.from(when));
        } catch (NoSuchFileException e) {
            return; // evicted since it was read, which is what a cache does
        }
    }

    @Override
    public Optional<Closeable> tryLock() throws IOException {
        FileChannel file = FileChannel.open(directory.resolve(LOCK),
                Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE),
                PosixFilePermissions.asFileAttribute(OWNER_FILE));
        FileLock lock = null;
        try {
            lock = file.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null; // another thread of this process tidies up
        } finally {
            if (lock == null) {
                file.close();
            }
        }
        return lock == null ? Optional.empty() : Optional.of(file);
    }
}
