package io.tessera.os;

import io.tessera.os.linux.Linux;

/**
 * What a daemon needs of the operating system. {@link Linux#open} gives the real one; tests replace all or one.
 *
 * @param sockets   UNIX sockets
 * @param poll      waiting
 * @param files     files and mappings
 * @param processes processes
 */
public record LinuxPort(SocketPort sockets, PollPort poll, FilePort files, ProcessPort processes) {
}
