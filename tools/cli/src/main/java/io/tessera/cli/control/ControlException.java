package io.tessera.cli.control;

import io.tessera.cli.context.ExitCode;

/** Why a request to the manager came to nothing. The message is for people and says what to do. */
public final class ControlException extends Exception {
    /** What went wrong. */
    public enum Kind {
        /** Nobody listens on the control socket. */
        NO_MANAGER,
        /** The manager answered that it will not. */
        REFUSED,
        /** The answer is not what the protocol says. */
        MALFORMED,
        /** No answer in time. */
        TIMEOUT,
        /** The socket cannot be used, for want of permission for example. */
        UNREACHABLE
    }

    private static final long serialVersionUID = 1L;

    private final Kind kind;

    /** With the kind and a sentence. */
    public ControlException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** With the kind, a sentence, and what caused it. */
    public ControlException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** What went wrong. */
    public Kind kind() {
        return kind;
    }

    /** What the process ends with. */
    public ExitCode exitCode() {
        return kind == Kind.NO_MANAGER ? ExitCode.NO_MANAGER : ExitCode.FAILURE;
    }
}
