package io.tessera.os;

import java.io.IOException;

/** A failed call of the operating system: its name, its object and the reason. */
public final class LinuxException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    /**
     * Creates an exception for a failed call.
     *
     * @param call   name of the call
     * @param object path or descriptor that it was about
     * @param errno  the error number
     */
    public LinuxException(String call, String object, int errno) {
        super(call + "(" + object + "): " + Errno.name(errno));
        this.errno = errno;
    }

    /** Returns the error number, see {@link Errno}. */
    public int errno() {
        return errno;
    }

    /** Returns a result, or throws if it is minus an error number. */
    public static int checked(int result, String call, Object object) throws LinuxException {
        if (result < 0) {
            throw new LinuxException(call, String.valueOf(object), -result);
        }
        return result;
    }
}
