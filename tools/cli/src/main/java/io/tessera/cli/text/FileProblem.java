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

/** What went wrong with a file, for people: exceptions of the JDK have the reason in their class, and the file as their message. Stateless. */
public final class FileProblem {
    private FileProblem() {
    }

    /** The file and the reason where the exception has them, else its message, or its class where it has none. */
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
