package io.tessera.agent.assembly;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;

/** Writes a jar reproducibly: its bytes depend only on its contents. */
final class JarWriting {
    /** The only entry that is stored without compression. */
    static final String PACK = "inst/libraries.pack";
    /** Time stamp of every entry: the earliest that a jar can express. */
    private static final LocalDateTime TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

    private JarWriting() {
    }

    static void write(Path target, String version, Map<String, byte[]> entries) throws IOException {
        Files.createDirectories(target.getParent());
        Path part = target.resolveSibling(target.getFileName() + ".part");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(part))) {
            add(out, JarFile.MANIFEST_NAME, manifest(version));
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                add(out, entry.getKey(), entry.getValue());
            }
        }
        Files.move(part, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void add(JarOutputStream out, String name, byte[] bytes) throws IOException {
        JarEntry entry = new JarEntry(name);
        entry.setTimeLocal(TIME);
        if (name.equals(PACK)) {
            CRC32 sum = new CRC32();
            sum.update(bytes);
            entry.setMethod(ZipEntry.STORED);
            entry.setSize(bytes.length);
            entry.setCrc(sum.getValue());
        }
        out.putNextEntry(entry);
        out.write(bytes);
        out.closeEntry();
    }

    private static byte[] manifest(String version) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.IMPLEMENTATION_TITLE, "Tessera agent");
        attributes.put(Attributes.Name.IMPLEMENTATION_VERSION, version);
        attributes.putValue("Premain-Class", "io.tessera.agent.PreMain");
        attributes.putValue("Agent-Class", "io.tessera.agent.PreMain");
        attributes.putValue("Can-Retransform-Classes", "true");
        attributes.putValue("Can-Redefine-Classes", "false");
        attributes.putValue("Can-Set-Native-Method-Prefix", "true");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        manifest.write(out);
        return out.toByteArray();
    }
}
