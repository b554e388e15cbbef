package io.tessera.agent.instrument;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;
import java.util.zip.CRC32;

/**
 * Cache of instrumented class files. The next start of any program of this user needs no ByteBuddy for them. A file also holds the original
 * class, to be compared byte for byte. It is written under another name and then moved, so that no reader sees a partial file. There is one
 * file for each class, its content and the JVM's release; a new build of the agent overwrites them. The folder is used only if no other
 * user can write to it. A folder that cannot be used only costs time, so it is not an error. Any thread, any number of processes.
 */
public final class ClassCache {
    private static final LinkOption[] ITSELF = {LinkOption.NOFOLLOW_LINKS};
    private static final Set<PosixFilePermission> MINE = PosixFilePermissions.fromString("rwx------");
    /** Largest file that is read or written: JCuda's largest class has 0.3 MB. */
    private static final int MOST_BYTES = 16 << 20;

    private final Path folder;
    private final long build;
    private volatile boolean usable = true;

    /**
     * Opens the cache; the folder is created when there is something to keep.
     *
     * @param folder folder of the files; null: nothing is kept or found
     * @param build number of this build of the agent
     */
    public ClassCache(Path folder, long build) {
        this.folder = folder;
        this.build = build;
        this.usable = folder != null;
    }

    /** An instrumented class file, as the application gets it. */
    public static final class Kept {
        private final byte[] code;
        private final boolean wrapped;

        Kept(byte[] code, boolean wrapped) {
            this.code = code;
            this.wrapped = wrapped;
        }

        /**
         * Returns the class file.
         *
         * @return its bytes
         */
        public byte[] code() {
            return code;
        }

        /**
         * Returns whether native methods of it were wrapped.
         *
         * @return true if so
         */
        public boolean wrapped() {
            return wrapped;
        }
    }

    /**
     * Returns whether the cache holds anything, of this build or another.
     *
     * @return true if so
     */
    public boolean isFilled() {
        if (!usable || !isMine()) {
            return false;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            return files.iterator().hasNext();
        } catch (IOException | RuntimeException unreadable) {
            return false;
        }
    }

    /**
     * Finds a class.
     *
     * @param name its internal name
     * @param code the class file as it is
     * @return the class as this build instrumented it, or null
     */
    public Kept find(String name, byte[] code) {
        if (!usable || !isMine()) {
            return null;
        }
        try {
            Path file = file(name, code);
            if (!Files.isRegularFile(file, ITSELF) || Files.size(file) > MOST_BYTES) {
                return null;
            }
            return read(ByteBuffer.wrap(Files.readAllBytes(file)), code);
        } catch (IOException | RuntimeException unreadable) {
            return null;
        }
    }

    private Kept read(ByteBuffer file, byte[] code) throws BufferUnderflowException {
        int end = file.limit() - Long.BYTES;
        if (end < 0 || file.getLong(end) != sum(file.array(), end) || file.getLong() != build) {
            return null;
        }
        boolean wrapped = file.get() != 0;
        byte[] original = bytes(file);
        return Arrays.equals(original, code) ? new Kept(bytes(file), wrapped) : null;
    }

    private static byte[] bytes(ByteBuffer file) {
        byte[] bytes = new byte[file.getInt()];
        file.get(bytes);
        return bytes;
    }

    /**
     * Keeps a class.
     *
     * @param name its internal name
     * @param code the class file as it is
     * @param changed the instrumented class file
     * @param wrapped whether native methods of it were wrapped
     */
    void keep(String name, byte[] code, byte[] changed, boolean wrapped) {
        int bytes = Long.BYTES + 1 + Integer.BYTES + code.length + Integer.BYTES + changed.length + Long.BYTES;
        if (!usable || bytes > MOST_BYTES) {
            return;
        }
        ByteBuffer content = ByteBuffer.allocate(bytes).putLong(build).put((byte) (wrapped ? 1 : 0))
                .putInt(code.length).put(code).putInt(changed.length).put(changed);
        content.putLong(sum(content.array(), content.position()));
        try {
            Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(MINE));
            if (!isMine()) {
                usable = false;
                return;
            }
            Path part = Files.createTempFile(folder, "part", null);
            try {
                Files.write(part, content.array());
                Files.move(part, file(name, code), StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException | RuntimeException readOnly) {
            usable = false;
        }
    }

    private Path file(String name, byte[] code) {
        return folder.resolve(name.replace('/', '.') + "-" + Runtime.version().feature() + "-"
                + Long.toHexString(sum(code, code.length)));
    }

    private static long sum(byte[] bytes, int length) {
        CRC32 sum = new CRC32();
        sum.update(bytes, 0, length);
        return sum.getValue();
    }

    /** Returns whether the folder exists, belongs to this user, and cannot be written by others. */
    private boolean isMine() {
        try {
            PosixFileAttributes is = Files.readAttributes(folder, PosixFileAttributes.class, ITSELF);
            return is.isDirectory() && !is.permissions().contains(PosixFilePermission.GROUP_WRITE)
                    && !is.permissions().contains(PosixFilePermission.OTHERS_WRITE)
                    && is.owner().equals(Files.getOwner(Path.of("/proc/self")));
        } catch (IOException | RuntimeException absent) {
            return false;
        }
    }
}
