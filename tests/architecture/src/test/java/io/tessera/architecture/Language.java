package io.tessera.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What a source file is written in, as far as counting its lines of code needs it. */
enum Language {
    /** Java. */
    JAVA,
    /** C and assembly with C comments. */
    C,
    /** Shell and Python: comments from a hash sign. */
    HASH,
    /** No source. */
    NONE;

    static Language of(Path file) {
        String name = file.getFileName().toString();
        if (name.endsWith(".java")) {
            return JAVA;
        }
        if (name.endsWith(".c") || name.endsWith(".h") || name.endsWith(".S")) {
            return C;
        }
        if (name.endsWith(".sh") || name.endsWith(".py") || !name.contains(".") && isScript(file)) {
            return HASH;
        }
        return NONE;
    }

    private static boolean isScript(Path file) {
        try (var stream = Files.newInputStream(file)) {
            return new String(stream.readNBytes(2), StandardCharsets.US_ASCII).equals("#!");
        } catch (IOException e) {
            throw new UncheckedIOException(file.toString(), e);
        }
    }

    /** How many of the lines hold code: not blank, not comment alone. */
    long linesOfCode(List<String> lines) {
        long count = 0;
        boolean inComment = false;
        for (String line : lines) {
            String text = line.strip();
            if (this == HASH) {
                count += text.isEmpty() || text.startsWith("#") ? 0 : 1;
                continue;
            }
            if (inComment) {
                int end = text.indexOf("*/");
                if (end < 0) {
                    continue;
                }
                inComment = false;
                text = text.substring(end + 2).strip();
            }
            if (text.startsWith("/*")) {
                int end = text.indexOf("*/", 2);
                inComment = end < 0;
                text = end < 0 ? "" : text.substring(end + 2).strip();
            }
            count += text.isEmpty() || text.startsWith("//") ? 0 : 1;
        }
        return count;
    }
}
