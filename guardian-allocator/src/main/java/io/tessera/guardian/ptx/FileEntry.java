package io.tessera.guardian.ptx;

import java.util.Objects;

/**
 * {@code .file}: a source file that {@link Location}s refer to. Immutable.
 *
 * @param index     its number
 * @param name      its path as written between the quotes
 * @param timestamp seconds, or -1 where there is none
 * @param sizeBytes size, or -1 where there is none
 * @param line      as in {@link Directive}
 */
public record FileEntry(int index, String name, long timestamp, long sizeBytes, int line) implements Directive {
    @Override
    public boolean equals(Object other) {
        return other instanceof FileEntry that && index == that.index && name.equals(that.name)
                && timestamp == that.timestamp && sizeBytes == that.sizeBytes;
    }

    @Override
    public int hashCode() {
        return Objects.hash(index, name, timestamp, sizeBytes);
    }
}
