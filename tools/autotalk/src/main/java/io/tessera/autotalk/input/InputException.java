package io.tessera.autotalk.input;

import java.io.Serial;

/**
 * Something in an input file is wrong, and the user can correct it there.
 *
 * <p>The message always starts with {@code file:line:}, or with {@code file:} where a whole file is meant, so that
 * editors and build logs can jump to it.
 */
public final class InputException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * @param file    the file as the user named it
     * @param line    line in it, from 1; 0 where the whole file is meant
     * @param problem what is wrong and what would be right
     */
    public InputException(String file, int line, String problem) {
        super(line > 0 ? file + ":" + line + ": " + problem : file + ": " + problem);
    }
}
