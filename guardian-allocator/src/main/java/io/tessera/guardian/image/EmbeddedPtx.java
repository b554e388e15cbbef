package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** PTX text that a program carries as a character string. Stateless. */
final class EmbeddedPtx {
    /** How far behind {@code .version} the next mandatory directive is searched. */
    private static final int HEAD_BYTES = 512;
    private static final Pattern HEAD = Pattern.compile(
            "\\.version[ \\t]+\\d+\\.\\d+\\s.*?\\.target[ \\t]+(sm|compute)_\\d+", Pattern.DOTALL);
    /** Maximum length of a comment before {@code .version}. */
    private static final int MOST_COMMENT_BYTES = 4096;

    private EmbeddedPtx() {
    }

    /** The text whose {@code .version} begins at an offset; null where it is none. */
    static FoundImage at(MemorySegment file, long version, SectionNames names) {
        long end = version;
        while (end < file.byteSize() && file.get(ValueLayout.JAVA_BYTE, end) != 0) {
            end++;
        }
        String head = text(file, version, Math.min(HEAD_BYTES, end - version));
        // Format strings for PTX text are not modules: a module's head has all its numbers, and its end has a body.
        String tail = text(file, Math.max(version, end - HEAD_BYTES), Math.min(HEAD_BYTES, end - version));
        if (end == file.byteSize() || !HEAD.matcher(head).lookingAt() || head.contains("%d") || head.contains("%s")
                || !tail.contains("}")) {
            return null;
        }
        long from = version;
        while (from > 0 && version - from < MOST_COMMENT_BYTES && isText(file.get(ValueLayout.JAVA_BYTE, from - 1))) {
            from--;
        }
        FoundImage image = new FoundImage(names.at(from), from, ImageKind.PTX, file.asSlice(from, end - from));
        MemorySegment start = image.mapped().asSlice(0, Math.min(image.sizeBytes(), 2L * MOST_COMMENT_BYTES));
        return ImageKind.of(start) == ImageKind.PTX ? image
                : new FoundImage(names.at(version), version, ImageKind.PTX, file.asSlice(version, end - version));
    }

    private static boolean isText(byte c) {
        return c >= ' ' && c < 127 || c >= '\t' && c <= '\r';
    }

    private static String text(MemorySegment file, long from, long length) {
        return new String(file.asSlice(from, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
    }
}
