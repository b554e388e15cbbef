package io.tessera.os;

/** Processes: this process's own identity, and handles of the processes that connect to it. */
public interface ProcessPort {
    /** Value for a process of which there is no pidfd. */
    int NO_PIDFD = -1;
    /** Signal that asks a process to end. */
    int SIGTERM = 15;
    /** Signal that ends a process at once. */
    int SIGKILL = 9;

    /** Returns the user of this process. */
    int uid();

    /** Returns the pid of this process. */
    int pid();

    /**
     * Returns a pidfd of a connected peer, readable once that process is gone; the caller closes it. It comes from the socket (SO_PEERPIDFD, Linux
     * 6.5), so it cannot name a recycled pid; on older kernels it comes from the pid.
     *
     * @return the descriptor, or {@link #NO_PIDFD} if the process is not visible here or the kernel has none
     */
    int pidfdOfPeer(int socket, PeerCredentials peer) throws LinuxException;

    /** Sends a signal. Returns false if the process is gone already. */
    boolean signal(int pidfd, int signal) throws LinuxException;

    /** Returns field 22 of {@code /proc/PID/stat}: start of the process in ticks; 0 if it cannot be read, or has ended (a zombie). */
    long startTicks(int pid);

    /** Returns whether there is a process with this pid. */
    boolean exists(int pid);

    /** Returns the present activity of a process; null if it is gone or hidden. */
    Activity activity(int pid);

    /** Leaves the session and process group in which this process was started: their end does not end this process. */
    void newSession();

    /** Closes a descriptor. */
    void close(int descriptor) throws LinuxException;
}
