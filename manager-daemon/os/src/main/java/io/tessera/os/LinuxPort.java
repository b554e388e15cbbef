package io.tessera.os;

/**
 * What a daemon needs of the operating system. {@code Linux.open} gives the real one; tests replace all or one.
 *
 * @param sockets   UNIX sockets
 * @param poll      waiting
 * @param files     files and mappings
 * @param processes processes
 */
public record LinuxPort(SocketPort sockets, PollPort poll, FilePort files, ProcessPort processes) {
}
