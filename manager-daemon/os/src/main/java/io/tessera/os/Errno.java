package io.tessera.os;

import java.util.Map;

/** Error numbers of Linux by name, as far as the daemons handle them (asm-generic/errno.h). */
public final class Errno {
    /** No such file or directory. */
    public static final int ENOENT = 2;
    /** A part of the path is not a directory. */
    public static final int ENOTDIR = 20;
    /** A link where none may be, or too many links. */
    public static final int ELOOP = 40;
    /** No such process. */
    public static final int ESRCH = 3;
    /** Interrupted by a signal. */
    public static final int EINTR = 4;
    /** Would block. */
    public static final int EAGAIN = 11;
    /** No memory, or a full table in the kernel. */
    public static final int ENOMEM = 12;
    /** Exists. */
    public static final int EEXIST = 17;
    /** Too many open files on the host. */
    public static final int ENFILE = 23;
    /** Too many open files in this process. */
    public static final int EMFILE = 24;
    /** No space left. */
    public static final int ENOSPC = 28;
    /** The peer reads no more. */
    public static final int EPIPE = 32;
    /** Took longer than was allowed. */
    public static final int ETIMEDOUT = 110;
    /** No such system call. */
    public static final int ENOSYS = 38;
    /** No such option. */
    public static final int ENOPROTOOPT = 92;
    /** No buffer space. */
    public static final int ENOBUFS = 105;
    /** The peer closed with data unread. */
    public static final int ECONNRESET = 104;

    private static final Map<Integer, String> NAMES = Map.ofEntries(Map.entry(1, "EPERM"), Map.entry(ENOENT, "ENOENT"),
            Map.entry(ESRCH, "ESRCH"), Map.entry(EINTR, "EINTR"), Map.entry(5, "EIO"), Map.entry(9, "EBADF"),
            Map.entry(EAGAIN, "EAGAIN"), Map.entry(ENOMEM, "ENOMEM"), Map.entry(13, "EACCES"), Map.entry(16, "EBUSY"),
            Map.entry(EEXIST, "EEXIST"), Map.entry(ENOTDIR, "ENOTDIR"), Map.entry(21, "EISDIR"), Map.entry(22, "EINVAL"),
            Map.entry(ENFILE, "ENFILE"), Map.entry(EMFILE, "EMFILE"), Map.entry(27, "EFBIG"),
            Map.entry(ENOSPC, "ENOSPC"), Map.entry(30, "EROFS"), Map.entry(EPIPE, "EPIPE"),
            Map.entry(36, "ENAMETOOLONG"), Map.entry(ENOSYS, "ENOSYS"), Map.entry(ELOOP, "ELOOP"),
            Map.entry(ENOPROTOOPT, "ENOPROTOOPT"), Map.entry(95, "EOPNOTSUPP"), Map.entry(98, "EADDRINUSE"),
            Map.entry(ECONNRESET, "ECONNRESET"), Map.entry(ENOBUFS, "ENOBUFS"), Map.entry(107, "ENOTCONN"),
            Map.entry(ETIMEDOUT, "ETIMEDOUT"), Map.entry(111, "ECONNREFUSED"), Map.entry(122, "EDQUOT"));

    private Errno() {
    }

    /** Returns the name of a number, or {@code errno 77} for an unknown one. */
    public static String name(int number) {
        return NAMES.getOrDefault(number, "errno " + number);
    }
}
