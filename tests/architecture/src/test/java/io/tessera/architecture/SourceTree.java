package io.tessera.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The sources of the tree, without what a build or a tool left there. Stateless. */
final class SourceTree {
    private static final Set<String> NOT_OURS = Set.of("target", "__pycache__", "node_modules");

    private SourceTree() {
    }

    /** Root of the tree. */
    static Path root() {
        return Path.of(System.getProperty("tessera.tree")).normalize();
    }

    /** Every source file: by its ending, or a script by its first line. */
    static List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(root(), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = folder.getFileName().toString();
                boolean hidden = name.startsWith(".") && !name.equals(".ci") && !folder.equals(root());
                return hidden || NOT_OURS.contains(name) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile() && Language.of(file) != Language.NONE) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
    }

    /** Lines of a file. */
    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(file.toString(), e);
        }
    }
}
