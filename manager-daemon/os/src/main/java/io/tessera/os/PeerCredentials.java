package io.tessera.os;

/**
 * The peer that connected, as the kernel reports it (SO_PEERCRED).
 *
 * @param pid the process at the time of its connect, in this process's pid namespace; 0 if it is not visible there
 * @param uid effective user
 * @param gid effective group
 */
public record PeerCredentials(int pid, int uid, int gid) {
}
