package io.tessera.manager.memory;

import io.tessera.os.Errno;
import io.tessera.os.FilePort;
import io.tessera.os.FileStatus;
import io.tessera.os.LinuxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Files in memory. A mapping is the file's own memory and stays readable after the arena that "mapped" it is closed. */
public final class MemoryFiles implements FilePort {
    private static final int CAPACITY = 1 << 18;

    private final Descriptors descriptors;
    private final Map<Path, File> files = new LinkedHashMap<>();
    private final int uid;
    private long inodes;
    /** Result of the next reservations; 0: there is space. */
    public int reserveErrno;
    /** Error number of all further writes; 0: they succeed. */
    public int writeErrno;

    /** A file or directory. */
    static final class File {
        private MemorySegment memory;
        final long inode;
        final boolean directory;
        int mode;
        int uid;
        long bytes;
        boolean locked;

        File(long inode, boolean directory, int mode, int uid) {
            this.inode = inode;
            this.directory = directory;
            this.mode = mode;
            this.uid = uid;
        }

        MemorySegment memory() {
            if (memory == null) {
                memory = Arena.ofAuto().allocate(CAPACITY, 8);
            }
            return memory;
        }
    }

    MemoryFiles(Descriptors descriptors, int uid) {
        this.descriptors = descriptors;
        this.uid = uid;
    }

    /** Returns the paths that exist. */
    public List<Path> paths() {
        return List.copyOf(files.keySet());
    }

    /** Returns the owner of a file. */
    public int ownerOf(Path path) {
        return files.get(path).uid;
    }

    /** Truncates a file, as its owner may. A mapping of it still stays readable. */
    public void cut(Path path) {
        files.get(path).bytes = 0;
    }

    /** Adds a name that a socket created. */
    void socket(Path path) throws LinuxException {
        if (files.putIfAbsent(path, new File(++inodes, false, 0666, uid)) != null) {
            throw new LinuxException("bind", path.toString(), 98);
        }
    }

    MemorySegment memoryOf(int descriptor) {
        return ((File) descriptors.get(descriptor)).memory();
    }

    @Override
    public boolean makeDirectory(Path path, int permissions) {
        return files.putIfAbsent(path, new File(++inodes, true, permissions, uid)) == null;
    }

    @Override
    public int open(Path path, Open how, int permissions) throws LinuxException {
        File file = files.get(path);
        if (file == null && (how == Open.DIRECTORY || how == Open.READ)) {
            throw new LinuxException("open", path.toString(), Errno.ENOENT);
        }
        if (file != null && how == Open.CREATE_NEW) {
            throw new LinuxException("open", path.toString(), Errno.EEXIST);
        }
        if (file == null) {
            file = new File(++inodes, false, permissions, uid);
            files.put(path, file);
        }
        return descriptors.add(file);
    }

    @Override
    public FileStatus status(int descriptor) {
        File file = (File) descriptors.get(descriptor);
        return new FileStatus(file.uid, file.mode | (file.directory ? 0040000 : 0100000), file.inode, file.bytes);
    }

    @Override
    public void permissions(int descriptor, int permissions) {
        ((File) descriptors.get(descriptor)).mode = permissions;
    }

    @Override
    public void owner(int descriptor, int newUid) {
        ((File) descriptors.get(descriptor)).uid = newUid;
    }

    @Override
    public int reserve(int descriptor, long bytes) {
        if (reserveErrno == 0) {
            ((File) descriptors.get(descriptor)).bytes = bytes;
        }
        return reserveErrno;
    }

    @Override
    public boolean lock(int descriptor) {
        File file = (File) descriptors.get(descriptor);
        boolean free = !file.locked;
        file.locked = true;
        return free;
    }

    @Override
    public void write(int descriptor, byte[] content) throws LinuxException {
        if (writeErrno != 0) {
            throw new LinuxException("write", "a file", writeErrno);
        }
        File file = (File) descriptors.get(descriptor);
        MemorySegment.copy(content, 0, file.memory(), ValueLayout.JAVA_BYTE, 0, content.length);
        file.bytes = content.length;
    }

    @Override
    public byte[] read(int descriptor, int maxBytes) {
        File file = (File) descriptors.get(descriptor);
        return file.memory().asSlice(0, Math.min(maxBytes, file.bytes)).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public MemorySegment map(int descriptor, long bytes, boolean writable, Arena arena) {
        return ((File) descriptors.get(descriptor)).memory().asSlice(0, bytes);
    }

    @Override
    public boolean remove(Path path) {
        return files.remove(path) != null;
    }

    @Override
    public void rename(Path from, Path to) {
        files.put(to, files.remove(from));
    }

    @Override
    public List<Path> list(Path directory) {
        return files.keySet().stream().filter(p -> directory.equals(p.getParent())).sorted().toList();
    }

    @Override
    public void close(int descriptor) {
        descriptors.remove(descriptor);
    }
}
