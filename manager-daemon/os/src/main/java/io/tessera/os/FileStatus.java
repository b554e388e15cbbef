package io.tessera.os;

/**
 * What a file is and whose.
 *
 * @param uid   its owner
 * @param mode  type and permission bits, as in {@code st_mode}
 * @param inode its number on its file system
 * @param bytes its size
 */
public record FileStatus(int uid, int mode, long inode, long bytes) {
    private static final int TYPE_MASK = 0170000;

    /** Whether it is a regular file. */
    public boolean isRegularFile() {
        return (mode & TYPE_MASK) == 0100000;
    }

    /** Permission bits. */
    public int permissions() {
        return mode & 07777;
    }

    /** Whether its group or everybody may write it. */
    public boolean othersCanWrite() {
        return (mode & 0022) != 0;
    }
}
