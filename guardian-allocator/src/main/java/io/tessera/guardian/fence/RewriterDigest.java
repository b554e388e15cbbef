package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.PtxModule;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * A digest of the classes that read, rewrite, print and verify modules. It changes automatically whenever the same module might be fenced in another
 * way, or refused. Stateless.
 */
public final class RewriterDigest {
    private static final int HEX_BYTES = 16;
    /** Given by name, since the rewriter uses nothing of it. */
    private static final String VERIFIER = "io/tessera/guardian/verify/";
    /** The rewriter and verifier of machine code. */
    private static final String MACHINE_CODE = "io/tessera/guardian/machine/";

    private RewriterDigest() {
    }

    /** The digest of the classes that run here. */
    public static String ofThisCode() {
        CodeSource source = RewriterDigest.class.getProtectionDomain().getCodeSource();
        if (source == null) {
            throw new IllegalStateException("the classes of the fences are in no file: what they wrote cannot be told from what others wrote");
        }
        try {
            return of(Path.of(source.getLocation().toURI()));
        } catch (IOException e) {
            throw new UncheckedIOException("the classes of the fences cannot be read from " + source.getLocation(), e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns the digest of classes in a jar or a folder, which is the same for both.
     *
     * @param place location of this module's classes
     */
    static String of(Path place) throws IOException {
        Map<String, byte[]> classes = new TreeMap<>();
        if (Files.isDirectory(place)) {
            try (Stream<Path> files = Files.walk(place)) {
                for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                    String name = place.relativize(file).toString();
                    if (isRewriter(name)) {
                        classes.put(name, Files.readAllBytes(file));
                    }
                }
            }
        } else {
            try (JarFile jar = new JarFile(place.toFile())) {
                for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                    if (isRewriter(entry.getName())) {
                        try (InputStream in = jar.getInputStream(entry)) {
                            classes.put(entry.getName(), in.readAllBytes());
                        }
                    }
                }
            }
        }
        if (classes.isEmpty()) {
            throw new IOException("there are no classes of the fences in " + place);
        }
        return digest(classes);
    }

    private static boolean isRewriter(String name) {
        return name.endsWith(".class")
                && (in(RewriterDigest.class, name) || in(PtxModule.class, name) || name.startsWith(VERIFIER) || name.startsWith(MACHINE_CODE));
    }

    /** Returns whether a name is in the package of a class, or in a package below it. */
    private static boolean in(Class<?> one, String name) {
        return name.startsWith(one.getPackageName().replace('.', '/') + "/");
    }

    private static String digest(Map<String, byte[]> classes) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            classes.forEach((name, bytes) -> {
                digest.update((name + "\n" + bytes.length + "\n").getBytes(StandardCharsets.UTF_8));
                digest.update(bytes);
            });
            return HexFormat.of().formatHex(digest.digest(), 0, HEX_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
