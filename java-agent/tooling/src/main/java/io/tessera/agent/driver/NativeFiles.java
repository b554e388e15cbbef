package io.tessera.agent.driver;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * The native libraries inside the agent's jar. Each is unpacked into a folder that only this user can enter, and its
 * SHA-256 is compared with the jar's list while it is written; a library that differs is never left on disk. One thread.
 */
final class NativeFiles {
    private static final String FOLDER = "native/";
    private static final String HASHES = FOLDER + "SHA256SUMS";
    private static final int CHUNK = 1 << 16;
    private static final Set<PosixFilePermission> MINE = PosixFilePermissions.fromString("rwx------");

    private final JarFile jar;
    private final Map<String, String> hashes = new HashMap<>();

    NativeFiles(JarFile jar) throws IOException {
        this.jar = jar;
        try (InputStream in = jar.getInputStream(entry(HASHES))) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                // As sha256sum writes them: hash, two blanks, name.
                String[] parts = line.strip().split("\\s+", 2);
                if (parts.length == 2) {
                    hashes.put(parts[1], parts[0]);
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

    /** A new folder under another one, for this user alone. */
    static Path folderIn(Path parent) throws IOException {
        return Files.createTempDirectory(parent, "tessera-agent-", PosixFilePermissions.asFileAttribute(MINE));
    }

    /** Writes one library into a folder and returns its path. */
    Path unpack(String name, Path folder) throws IOException {
        String expected = hashes.get(name);
        if (expected == null) {
            throw new WrongHashException(name + " has no hash in " + HASHES);
        }
        Path file = folder.resolve(name);
        MessageDigest digest = sha256();
        try (InputStream in = jar.getInputStream(entry(FOLDER + name));
                OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.WRITE)) {
            byte[] chunk = new byte[CHUNK];
            for (int n = in.read(chunk); n > 0; n = in.read(chunk)) {
                digest.update(chunk, 0, n);
                out.write(chunk, 0, n);
            }
        }
        if (!MessageDigest.isEqual(expected.getBytes(StandardCharsets.US_ASCII),
                hex(digest.digest()).getBytes(StandardCharsets.US_ASCII))) {
            Files.delete(file);
            throw new WrongHashException(name + " in " + jar.getName() + " is not the library that it was built with");
        }
        Files.setPosixFilePermissions(file, MINE);
        return file;
    }

    private static MessageDigest sha256() throws IOException {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException absent) {
            throw new IOException(absent);
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            text.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
        }
        return text.toString();
    }

    /** A library in the jar is not what it should be: no other folder will help. */
    static final class WrongHashException extends IOException {
        private static final long serialVersionUID = 1L;

        WrongHashException(String message) {
            super(message);
        }
    }
}
