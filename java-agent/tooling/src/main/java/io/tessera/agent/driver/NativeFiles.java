package io.tessera.agent.driver;

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
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * The native libraries inside the agent's jar. Each is unpacked into a folder that only this user can enter, and its
 * SHA-256 is compared with the jar's list before it is written: a library that differs never reaches the disk. One thread.
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

    /** A new folder under another one, for this user alone. */
    static File folderIn(File parent) throws IOException {
        // Making it fails where the name is taken, by a link for example, so the name needs not be a secret.
        File folder = new File(parent, "tessera-agent-" + Long.toHexString(Ticks.nanos()));
        Files.createDirectory(folder.toPath(), MINE);
        return folder;
    }

    /** Writes one library into a folder and returns it. */
    File unpack(String name, File folder) throws IOException {
        String expected = hashes.get(name);
        if (expected == null) {
            throw new WrongHashException(name + " has no hash in " + HASHES);
        }
        byte[] library;
        try (InputStream in = jar.getInputStream(entry(FOLDER + name))) {
            library = in.readAllBytes();
        }
        if (!expected.equals(hex(sha256().digest(library)))) {
            throw new WrongHashException(name + " in " + jar.getName() + " is not the library that it was built with");
        }
        File file = new File(folder, name);
        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(library);
        }
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
