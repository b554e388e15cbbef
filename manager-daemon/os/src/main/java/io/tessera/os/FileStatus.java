package io.tessera.os;

/**
 * Type, owner and size of a file.
 *
 * @param uid   owner
 * @param mode  type and permission bits, as in {@code st_mode}
 * @param inode number on its file system
 * @param bytes size
 */
public record FileStatus(int uid, int mode, long inode, long bytes) {
    private static final int TYPE_MASK = 0170000;

    /** Returns whether it is a regular file. */
    public boolean isRegularFile() {
        return (mode & TYPE_MASK) == 0100000;
    }

    /** Returns the permission bits. */
    public int permissions() {
        return mode & 07777;
    }

    /** Returns whether its group or all users may write it. */
    public boolean othersCanWrite() {
        return (mode & 0022) != 0;
    }
}
