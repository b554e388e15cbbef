package io.tessera.cli.text;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;
import java.util.Objects;

/**
 * Describes what went wrong with a file. Exceptions of the JDK give the reason by their class, and the file in their message. Stateless.
 */
public final class FileProblem {
    private FileProblem() {
    }

    /** Returns the file and the reason if the exception has them, or else its message, or its class if there is no message. */
    public static String of(IOException problem) {
        if (!(problem instanceof FileSystemException of)) {
            return Objects.requireNonNullElse(problem.getMessage(), problem.toString());
        }
        String reason = switch (of) {
            case NoSuchFileException _ -> "no such file or directory";
            case AccessDeniedException _ -> "permission denied";
            case FileAlreadyExistsException _ -> "is there already";
            case NotDirectoryException _ -> "is not a directory";
            case DirectoryNotEmptyException _ -> "is not empty";
            case NotLinkException _ -> "is not a link";
            default -> Objects.requireNonNullElse(of.getReason(), of.getClass().getSimpleName());
        };
        return of.getFile() == null ? reason : of.getFile() + (of.getOtherFile() == null ? "" : " -> " + of.getOtherFile()) + ": " + reason;
    }
}
