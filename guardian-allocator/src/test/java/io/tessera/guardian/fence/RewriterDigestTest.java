package io.tessera.guardian.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.guardian.fence.module.Fencer;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fenced code in a cache is that of the classes that look for it: another class, another digest. */
class RewriterDigestTest {
    @TempDir
    Path folder;

    private Path classes() throws Exception {
        Path from = Path.of(Fencer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path to = folder.resolve("classes");
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".class")).toList()) {
                Path copy = to.resolve(from.relativize(file).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
        return to;
    }

    @Test
    void changesWithEveryClassThatRewrites() throws Exception {
        Path classes = classes();
        String before = RewriterDigest.of(classes);
        assertEquals(Fencer.version(), before);
        for (String name : List.of("fence/control/LoopWatch", "fence/proof/loop/Induction", "ptx/PtxModule", "ptx/parse/Lexer",
                "ptx/print/PtxPrinter",
                "verify/module/FenceVerifier", "machine/fence/SectionRewriter", "machine/verify/SectionVerifier", "machine/MachineFence")) {
            Path file = classes.resolve("io/tessera/guardian/" + name + ".class");
            byte[] bytes = Files.readAllBytes(file);
            byte[] other = bytes.clone();
            other[other.length / 2] ^= 1;
            Files.write(file, other);
            assertNotEquals(before, RewriterDigest.of(classes), name);
            Files.write(file, bytes);
        }
        Files.write(classes.resolve("io/tessera/guardian/heap/PageHeap.class"), new byte[] {1});
        assertEquals(before, RewriterDigest.of(classes), "what rewrites nothing changes nothing");
    }

    @Test
    void isTheSameInAJar() throws Exception {
        Path classes = classes();
        Path jar = folder.resolve("fences.jar");
        try (OutputStream out = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(out);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).sorted(java.util.Comparator.reverseOrder()).toList()) {
                zip.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
                zip.write(Files.readAllBytes(file));
            }
        }
        assertEquals(Fencer.version(), RewriterDigest.of(jar));
    }

    @Test
    void whereThereAreNoneItSaysSo() {
        assertThrows(IOException.class, () -> RewriterDigest.of(folder));
    }
}
