package io.tessera.agent.instrument;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.pool.TypePool;
import net.bytebuddy.utility.OpenedClassReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every method that the table names exists, with the arguments that it names, in each supported version of its library;
 * and what the instrumenter makes of the class passes the JVM's verifier.
 */
@Timeout(300)
class LibraryVersionsTest {
    private static final Path LIBRARIES = Path.of(System.getProperty("tessera.libraries", "target/libraries"));
    private static final Pattern NAME = Pattern.compile("([a-z]+)-(\\d+)\\.(\\d+).*\\.jar");
    private static final Table TABLE = table();
    private static final Instrumenter INSTRUMENTER = new Instrumenter(TABLE, new WrappedClasses(),
            new ClassCache(null, 0));
    /** Fewer would mean that the table or the libraries were not read. */
    private static final int RULES_AT_LEAST = 100;
    private static final int LIBRARIES_AT_LEAST = 18;

    private static Table table() {
        try {
            return Table.read(null, line -> {
                throw new IllegalArgumentException(line);
            });
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static List<Path> libraries() throws IOException {
        try (Stream<Path> files = Files.list(LIBRARIES)) {
            return files.filter(f -> !f.getFileName().toString().startsWith("javacpp")).sorted()
                    .collect(Collectors.toList());
        }
    }

    /** The oldest and the newest of each library: what verification costs is not worth the ones between. */
    static List<Path> oldestAndNewest() throws IOException {
        Map<String, List<Path>> families = new TreeMap<>();
        for (Path library : libraries()) {
            String name = library.getFileName().toString();
            families.computeIfAbsent(name.substring(0, name.indexOf('-')), n -> new ArrayList<>()).add(library);
        }
        List<Path> chosen = new ArrayList<>();
        for (List<Path> family : families.values()) {
            chosen.add(family.get(0));
            chosen.add(family.get(family.size() - 1));
        }
        return chosen;
    }

    @Test
    void everythingIsLookedAt() throws IOException {
        assertTrue(TABLE.rules().size() >= RULES_AT_LEAST, TABLE.rules().size() + " rules");
        assertTrue(libraries().size() >= LIBRARIES_AT_LEAST, libraries().toString());
        Set<String> types = new TreeSet<>();
        TABLE.rules().forEach(rule -> types.add(rule.type()));
        for (Path library : libraries()) {
            try (URLClassLoader loader = loader(library)) {
                types.removeIf(type -> loader.getResource(type.replace('.', '/') + ".class") != null);
            }
        }
        // Not on Maven Central.
        types.removeIf(type -> type.startsWith("uk.ac.manchester.tornado.") || type.startsWith("com.nvidia.grcuda."));
        assertEquals(Set.of(), types, "classes that no version has");
    }

    private static URLClassLoader loader(Path library) throws IOException {
        List<URL> urls = new ArrayList<>(List.of(library.toUri().toURL()));
        try (Stream<Path> files = Files.list(LIBRARIES)) {
            for (Path other : files.collect(Collectors.toList())) {
                String name = other.getFileName().toString();
                // JavaCPP has its pointers in a library of their own, JCuda in jcuda's.
                if (name.startsWith("javacpp") || name.equals("jcuda-12.6.0.jar")) {
                    urls.add(other.toUri().toURL());
                }
            }
        }
        return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }

    private static boolean isIn(Rule rule, Path library) {
        Matcher version = NAME.matcher(library.getFileName().toString());
        assertTrue(version.matches(), library.toString());
        int found = number(version.group(2), version.group(3));
        return (rule.since().isEmpty() || found >= number(rule.since().split("\\.")))
                && (rule.until().isEmpty() || found <= number(rule.until().split("\\.")));
    }

    private static int number(String... parts) {
        return 100 * Integer.parseInt(parts[0]) + Integer.parseInt(parts[1]);
    }

    private static byte[] own(Path library, String type) throws IOException {
        try (URLClassLoader alone = new URLClassLoader(new URL[] {library.toUri().toURL()}, null);
                InputStream in = alone.getResourceAsStream(type.replace('.', '/') + ".class")) {
            return in == null ? null : in.readAllBytes();
        }
    }

    @ParameterizedTest
    @MethodSource("libraries")
    void everyMethodExists(Path library) throws IOException {
        List<String> missing = new ArrayList<>();
        try (URLClassLoader loader = loader(library)) {
            TypePool pool = TypePool.Default.of(ClassFileLocator.ForClassLoader.of(loader));
            for (Rule rule : TABLE.rules()) {
                if (own(library, rule.type()) != null && isIn(rule, library)
                        && pool.describe(rule.type()).resolve().getDeclaredMethods().stream()
                                .noneMatch(method -> meant(rule, method))) {
                    missing.add(rule.toString());
                }
            }
        }
        // A pattern that begins a family of names may match nothing in a version, as long as its class is there.
        missing.removeIf(rule -> rule.contains("*"));
        assertEquals(List.of(), missing);
    }

    private static boolean meant(Rule rule, MethodDescription method) {
        return rule.matches(method.getName()) && Instrumenter.fits(rule, method);
    }

    @ParameterizedTest
    @MethodSource("oldestAndNewest")
    void whatIsMadeOfItPassesTheVerifier(Path library) throws IOException {
        Set<String> types = new TreeSet<>();
        TABLE.rules().forEach(rule -> types.add(rule.type()));
        for (String type : types) {
            byte[] code = own(library, type);
            if (code != null) {
                try (URLClassLoader loader = loader(library)) {
                    byte[] made = INSTRUMENTER.instrument(loader, type.replace('.', '/'), code, false);
                    assertNotNull(made, type);
                    verify(loader, type, made);
                }
            }
        }
    }

    /** Without its static initialiser, which wants natives: what is left of initialising it is linking it. */
    private static byte[] withoutInitialiser(byte[] code) {
        ClassWriter writer = new ClassWriter(0);
        new ClassReader(code).accept(new ClassVisitor(OpenedClassReader.ASM_API, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
                    String[] exceptions) {
                return name.equals("<clinit>") ? null
                        : super.visitMethod(access, name, descriptor, signature, exceptions);
            }
        }, 0);
        return writer.toByteArray();
    }

    private static void verify(URLClassLoader loader, String type, byte[] code) throws IOException {
        String folder = type.substring(0, type.lastIndexOf('.') + 1);
        ClassLoader defining = new ClassLoader(loader) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (name.startsWith("io.tessera.agent.boot.")) {
                    return LibraryVersionsTest.class.getClassLoader().loadClass(name);
                }
                // The class and those of its package, which it may reach into.
                return name.startsWith(folder) ? define(name) : super.loadClass(name, resolve);
            }

            private Class<?> define(String name) throws ClassNotFoundException {
                Class<?> there = findLoadedClass(name);
                if (there != null) {
                    return there;
                }
                try (InputStream in = loader.getResourceAsStream(name.replace('.', '/') + ".class")) {
                    if (in == null) {
                        throw new ClassNotFoundException(name);
                    }
                    byte[] bytes = withoutInitialiser(name.equals(type) ? code : in.readAllBytes());
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException failure) {
                    throw new ClassNotFoundException(name, failure);
                }
            }
        };
        try {
            assertEquals(type, Class.forName(type, true, defining).getName());
        } catch (ClassNotFoundException missing) {
            throw new IOException(missing);
        }
    }
}
