package io.tessera.os;

/**
 * Identity and state of a file. Two descriptors with the same identity have the same content, unless it was written so recently that the file
 * system's clock did not move in between.
 *
 * @param regular    whether it is a regular file
 * @param device     number of its file system
 * @param inode      number of the file there
 * @param bytes      size
 * @param modifiedNs last change of the content, since 1970
 * @param changedNs  last change of anything, since 1970; only the kernel sets this
 */
public record FileIdentity(boolean regular, long device, long inode, long bytes, long modifiedNs, long changedNs) {
}
