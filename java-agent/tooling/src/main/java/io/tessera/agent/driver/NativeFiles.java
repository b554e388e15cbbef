package io.tessera.agent.driver;

import io.tessera.agent.boot.Natives;
import io.tessera.agent.clock.Ticks;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.zip.CRC32;

/**
 * The native libraries inside the agent's jar. Each is unpacked into a folder that only this user can enter. Its SHA-256 on disk is
 * compared with the jar's list before any of its code runs. One thread.
 */
final class NativeFiles {
    private static final String FOLDER = "native/";
    private static final String HASHES = FOLDER + "SHA256SUMS";
    private static final FileAttribute<?> MINE = PosixFilePermissions.asFileAttribute(EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE));

    private final JarFile jar;
    private final Map<String, String> hashes = new HashMap<>();

    NativeFiles(JarFile jar) throws IOException {
        this.jar = jar;
        try (InputStream in = jar.getInputStream(entry(HASHES))) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                // As sha256sum writes them: hash, two blanks, name.
                int blank = line.indexOf(' ');
                if (blank > 0) {
                    hashes.put(line.substring(blank).strip(), line.substring(0, blank));
                }
            }
        }
    }

    private JarEntry entry(String name) throws IOException {
        JarEntry entry = jar.getJarEntry(name);
        if (entry == null) {
            throw new IOException(jar.getName() + " holds no " + name);
        }
        return entry;
    }

    /** Creates a folder inside another one, for this user alone. */
    static File folderIn(File parent) throws IOException {
        // The creation fails if the name is taken, by a link for example, so the name need not be secret.
        File folder = new File(parent, "tessera-agent-" + Long.toHexString(Ticks.nanos()));
        Files.createDirectory(folder.toPath(), MINE);
        return folder;
    }

    /** Writes a library into a folder and returns the file; {@link #check} must follow. */
    File unpack(String name, File folder) throws IOException {
        JarEntry entry = entry(FOLDER + name);
        byte[] library;
        try (InputStream in = jar.getInputStream(entry)) {
            library = in.readAllBytes();
        }
        // The jar's own sum: what the library that checks the others is held to, since nothing can check it yet.
        CRC32 sum = new CRC32();
        sum.update(library);
        if (sum.getValue() != entry.getCrc() || library.length != entry.getSize()) {
            throw new WrongHashException(name + " in " + jar.getName() + " is damaged");
        }
        File file = new File(folder, name);
        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(library);
        }
        return file;
    }

    /** Returns the SHA-256 of a library in the jar's list; empty: it is not listed. */
    String expected(String name) {
        return hashes.getOrDefault(name, "");
    }

    /** Compares a file's SHA-256 with the jar's list. */
    void check(String name, File file) throws WrongHashException {
        String expected = expected(name);
        String found = Natives.sha256(file.getPath());
        if (!found.equals(expected)) {
            throw new WrongHashException(name + " in " + jar.getName() + " is not the library that it was built with: "
                    + found + " instead of " + expected);
        }
    }

    /** A library in the jar has the wrong hash; another folder would not help. */
    static final class WrongHashException extends IOException {
        private static final long serialVersionUID = 1L;

        WrongHashException(String message) {
            super(message);
        }
    }
}
