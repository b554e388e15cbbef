package io.tessera.agent.driver;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Where libraries may be unpacked, in order. Any of them may be read-only, full or mounted noexec: then the next. */
final class Folders {
    private Folders() {
    }

    /** The existing candidates; {@code first} is the user's choice or null. */
    static List<Path> candidates(String first) {
        Set<String> names = new LinkedHashSet<>();
        names.add(first);
        names.add(System.getProperty("java.io.tmpdir"));
        names.add(System.getenv("XDG_RUNTIME_DIR"));
        names.add("/dev/shm");
        names.add("/var/tmp");
        names.add(System.getProperty("user.home"));
        names.add(System.getProperty("user.dir"));
        List<Path> folders = new ArrayList<>();
        for (String name : names) {
            if (name != null && !name.isEmpty() && Files.isDirectory(Path.of(name))) {
                folders.add(Path.of(name).toAbsolutePath());
            }
        }
        return folders;
    }
}
