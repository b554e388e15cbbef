package io.tessera.os;

/**
 * The operations that a daemon needs from the operating system. {@code Linux.open} returns the real ones; tests replace some or all.
 *
 * @param sockets   UNIX sockets
 * @param poll      waiting
 * @param files     files and mappings
 * @param processes processes
 */
public record LinuxPort(SocketPort sockets, PollPort poll, FilePort files, ProcessPort processes) {
}
