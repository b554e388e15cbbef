package io.tessera.os;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** Files and directories by descriptor, never through a link. The caller owns and closes the descriptors. */
public interface FilePort {
    /** Ways to open a file. */
    enum Open {
        /** A directory, to examine it and change its mode. */
        DIRECTORY,
        /** A file that must not exist, to write and map it. */
        CREATE_NEW,
        /** A file, created if missing, to write and lock it. */
        CREATE,
        /** A file, created if missing, to write at its end. */
        APPEND,
        /** An existing file, to read it. */
        READ
    }

    /** Creates a directory. Returns false if the name is taken. */
    boolean makeDirectory(Path path, int permissions) throws LinuxException;

    /** Opens a file; a link as the last part of the path fails with ELOOP or ENOTDIR. */
    int open(Path path, Open how, int permissions) throws LinuxException;

    /** Returns the status of an open file. */
    FileStatus status(int descriptor) throws LinuxException;

    /** Changes the permissions of an open file. */
    void permissions(int descriptor, int permissions) throws LinuxException;

    /** Gives an open file to a user; its group stays. */
    void owner(int descriptor, int uid) throws LinuxException;

    /**
     * Reserves space, so that a later write into a mapping cannot fail.
     *
     * @return 0, or the error number: ENOSPC, EDQUOT and EFBIG are expected results
     */
    int reserve(int descriptor, long bytes);

    /** Locks a file for this process alone. Returns false if another one has it. */
    boolean lock(int descriptor) throws LinuxException;

    /** Replaces the content of a file. */
    void write(int descriptor, byte[] content) throws LinuxException;

    /** Reads the first bytes of a file. */
    byte[] read(int descriptor, int maxBytes) throws LinuxException;

    /** Maps a file shared; it is unmapped when the arena closes. The descriptor may be closed at once. */
    MemorySegment map(int descriptor, long bytes, boolean writable, Arena arena) throws LinuxException;

    /** Removes a name. Returns false if there was none. */
    boolean remove(Path path) throws LinuxException;

    /** Renames a file within its file system, and replaces an existing one. */
    void rename(Path from, Path to) throws LinuxException;

    /** Returns the names in a directory. */
    List<Path> list(Path directory) throws IOException;

    /** Closes a descriptor. */
    void close(int descriptor) throws LinuxException;
}
