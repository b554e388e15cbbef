package io.tessera.jvm;

import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/** Writes copies of the agent's jar with something wrong in them. */
final class DamagedJar {
    private static final String DRIVER = "native/libcuda.so.1";
    private static final String SUMS = "native/SHA256SUMS";
    /** Offset of e_machine in an ELF header, and EM_AARCH64; elf(5). */
    private static final int MACHINE_OFFSET = 18;
    private static final short AARCH64 = 183;

    private final Map<String, byte[]> entries = new LinkedHashMap<>();

    private DamagedJar() {
        try (JarFile jar = new JarFile(BuildOutputs.agent().toFile())) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                entries.put(entry.getName(), jar.getInputStream(entry).readAllBytes());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A bit of the driver library is another one. */
    static Path bitFlipped(Path folder) {
        DamagedJar jar = new DamagedJar();
        byte[] driver = jar.entries.get(DRIVER);
        driver[driver.length / 2] ^= 1;
        return jar.write(folder, "bit-flipped");
    }

    /** Entries whose names begin like this are gone. */
    static Path without(Path folder, String prefix) {
        DamagedJar jar = new DamagedJar();
        if (!jar.entries.keySet().removeIf(name -> name.startsWith(prefix))) {
            throw new IllegalStateException("the agent's jar has no " + prefix);
        }
        return jar.write(folder, "without-" + prefix.replace('/', '-'));
    }

    /** All libraries are for another processor, and the sums are right. */
    static Path foreign(Path folder) {
        DamagedJar jar = new DamagedJar();
        StringBuilder sums = new StringBuilder();
        jar.entries.forEach((name, content) -> {
            if (name.startsWith("native/") && !name.equals(SUMS)) {
                ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).putShort(MACHINE_OFFSET, AARCH64);
                sums.append(sha256(content)).append("  ").append(name.substring("native/".length())).append('\n');
            }
        });
        jar.entries.put(SUMS, sums.toString().getBytes(StandardCharsets.UTF_8));
        return jar.write(folder, "foreign");
    }

    private static String sha256(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private Path write(Path folder, String name) {
        Path target = folder.resolve(name).resolve("tessera-agent.jar");
        try {
            Files.createDirectories(target.getParent());
            try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(target))) {
                for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                    out.putNextEntry(new JarEntry(entry.getKey()));
                    out.write(entry.getValue());
                    out.closeEntry();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return target;
    }
}
