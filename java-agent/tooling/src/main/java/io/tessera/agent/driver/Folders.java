package io.tessera.agent.driver;

import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** Folders in which libraries may be unpacked, in order. If one is read-only, full or mounted noexec, the next is tried. */
final class Folders {
    private Folders() {
    }

    /** Returns the existing candidates; {@code first} is the user's choice, or null. */
    static List<File> candidates(String first) {
        String[] names = {first, System.getProperty("java.io.tmpdir"), System.getenv("XDG_RUNTIME_DIR"), "/dev/shm",
                "/var/tmp", System.getProperty("user.home"), System.getProperty("user.dir")};
        List<File> folders = new ArrayList<>();
        for (String name : names) {
            if (name != null && !name.isEmpty()) {
                File folder = new File(name).getAbsoluteFile();
                if (folder.isDirectory() && !folders.contains(folder)) {
                    folders.add(folder);
                }
            }
        }
        return folders;
    }
}
