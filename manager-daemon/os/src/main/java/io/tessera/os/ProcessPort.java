package io.tessera.os;

/** Processes: our own identity, and hold of those that connect to us. */
public interface ProcessPort {
    /** No hold on a process was to be had. */
    int NO_PIDFD = -1;
    /** Signal: end. */
    int SIGTERM = 15;
    /** Signal: end at once. */
    int SIGKILL = 9;

    /** Our user. */
    int uid();

    /** Our process. */
    int pid();

    /**
     * A pidfd of a connected peer, readable once that process is gone; the caller closes it. Asks the socket
     * (SO_PEERPIDFD, Linux 6.5), so a recycled pid cannot be meant; older kernels are asked by pid.
     *
     * @return the descriptor, or {@link #NO_PIDFD} if the process is not visible to us or the kernel has none
     */
    int pidfdOfPeer(int socket, PeerCredentials peer) throws LinuxException;

    /** Sends a signal. Returns false if the process is gone already. */
    boolean signal(int pidfd, int signal) throws LinuxException;

    /** Field 22 of {@code /proc/PID/stat}: start of the process in ticks; 0 if it cannot be read, or has ended (a zombie). */
    long startTicks(int pid);

    /** Whether there is a process of this pid. */
    boolean exists(int pid);

    /** What a process does now; null if it is gone or hidden. */
    Activity activity(int pid);

    /** Leaves the session and process group that we were started in: what ends those does not end us. */
    void newSession();

    /** Closes a descriptor. */
    void close(int descriptor) throws LinuxException;
}
