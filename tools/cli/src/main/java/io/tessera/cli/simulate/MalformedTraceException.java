package io.tessera.cli.simulate;

import java.io.IOException;

/** A line of a trace is not what it should be. The message names file and line, and says what is accepted. */
final class MalformedTraceException extends IOException {
    private static final long serialVersionUID = 1L;

    MalformedTraceException(String message) {
        super(message);
    }
}
