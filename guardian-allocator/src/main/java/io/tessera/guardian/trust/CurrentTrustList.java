package io.tessera.guardian.trust;

import io.tessera.guardian.image.ModuleImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

/**
 * A user's list as it is on disk now: read when it is first asked, and again when the file is another one or was changed, since
 * users trust more while programs run. Lists of a framework's libraries have tens of thousands of lines. Thread-safe.
 */
public final class CurrentTrustList {
    /** Attributes that change with every change of the file, its owner or its permissions; a file that replaces it has another inode. */
    private static final String STAMP = "unix:ino,dev,size,lastModifiedTime,ctime";

    private final Path file;
    private Map<String, Object> stamp = Map.of();
    private TrustList list = TrustList.empty();

    /** Creates a list for a file, which need not exist; see {@link TrustLocation}. */
    public CurrentTrustList(Path file) {
        this.file = file;
    }

    /**
     * Returns whether an image is in the list.
     *
     * @throws IOException as in {@link TrustList#read}; then nothing is trusted
     */
    public boolean contains(ModuleImage image) throws IOException {
        return current().contains(image);
    }

    /** Returns whether an image with a hash is in the list. Throws as {@link #contains(ModuleImage)} does. */
    public boolean contains(String hash) throws IOException {
        return current().contains(hash);
    }

    private synchronized TrustList current() throws IOException {
        Map<String, Object> now;
        try {
            now = Files.readAttributes(file, STAMP, LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            now = Map.of();
        }
        if (now.isEmpty() || !now.equals(stamp)) {
            stamp = Map.of();
            list = TrustList.read(file);
            // Taken before the list was read: what has changed since is read when it is next asked.
            stamp = now;
        }
        return list;
    }
}
