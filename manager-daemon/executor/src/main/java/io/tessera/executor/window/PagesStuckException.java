package io.tessera.executor.window;

/** Memory of a window cannot be given back now; nothing has changed. */
final class PagesStuckException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PagesStuckException(String message) {
        super(message);
    }
}
