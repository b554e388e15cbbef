package io.tessera.software.memory;

/** The operating system refused an address range; the message names the call and the error number. */
public final class HostMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int errno;

    HostMemoryException(String call, int errno) {
        super(call + " failed with error number " + errno
                + "; the host is short of memory or address space for the software GPU's arena");
        this.errno = errno;
    }

    /** Returns the error number. */
    int errno() {
        return errno;
    }
}
