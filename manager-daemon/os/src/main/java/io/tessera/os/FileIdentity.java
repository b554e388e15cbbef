package io.tessera.os;

/**
 * Which file it is and in which state: two descriptors with the same identity have the same content, unless it was written
 * so recently that the file system's clock did not move in between.
 *
 * @param regular    whether it is a regular file
 * @param device     number of its file system
 * @param inode      its number there
 * @param bytes      its size
 * @param modifiedNs when its content changed last, since 1970
 * @param changedNs  when anything of it changed last, since 1970; nobody but the kernel sets this
 */
public record FileIdentity(boolean regular, long device, long inode, long bytes, long modifiedNs, long changedNs) {
}
