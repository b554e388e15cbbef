package io.tessera.os;

import java.io.IOException;

/** A call of the operating system that failed: which, on what, and why. */
public final class LinuxException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    /**
     * A failed call.
     *
     * @param call   its name
     * @param object the path or descriptor that it was about
     * @param errno  the error number
     */
    public LinuxException(String call, String object, int errno) {
        super(call + "(" + object + "): " + Errno.name(errno));
        this.errno = errno;
    }

    /** The error number, see {@link Errno}. */
    public int errno() {
        return errno;
    }

    /** Passes a result on, or throws if it is minus an error number. */
    public static int checked(int result, String call, Object object) throws LinuxException {
        if (result < 0) {
            throw new LinuxException(call, String.valueOf(object), -result);
        }
        return result;
    }
}
