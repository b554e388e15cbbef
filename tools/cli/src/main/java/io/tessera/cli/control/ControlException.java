package io.tessera.cli.control;

import io.tessera.cli.context.ExitCode;

/** A request to the manager failed. The message is for users and says what to do. */
public final class ControlException extends Exception {
    /** What went wrong. */
    public enum Kind {
        /** Nobody listens on the control socket. */
        NO_MANAGER,
        /** The manager refused the request. */
        REFUSED,
        /** The answer violates the protocol. */
        MALFORMED,
        /** No answer in time. */
        TIMEOUT,
        /** The socket cannot be used, for lack of permission for example. */
        UNREACHABLE
    }

    private static final long serialVersionUID = 1L;

    private final Kind kind;

    /** Creates an exception with a kind and a message. */
    public ControlException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** Creates an exception with a kind, a message and a cause. */
    public ControlException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** What went wrong. */
    public Kind kind() {
        return kind;
    }

    /** Returns the exit code for this error. */
    public ExitCode exitCode() {
        return kind == Kind.NO_MANAGER ? ExitCode.NO_MANAGER : ExitCode.FAILURE;
    }
}
