package io.tessera.agent.assembly;

import io.tessera.agent.instrument.TableClasses;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * Writes {@code tessera-agent.jar}: the entry classes and the facade at the root, the bootstrap classes in {@code
 * boot/} with an index in the order in which they can be defined, everything else in {@code inst/} under names that
 * no other loader finds, the native libraries in {@code native/} with their SHA-256.
 */
public final class AgentJar {
    private static final String FACADE = "io/tessera/Tessera";
    private static final Set<String> ROOT = Set.of("io/tessera/agent/PreMain", "io/tessera/agent/IsolatedLoader",
            "io/tessera/agent/Pack");
    private static final String DATA = "data";

    private final Map<String, byte[]> entries = new TreeMap<>();
    private final Map<String, byte[]> libraries = new TreeMap<>();

    private AgentJar() {
    }

    /**
     * Writes the jar.
     *
     * @param arguments version, bootstrap classes, those that use internals, tooling classes, native libraries, the
     * jar, and where a copy of it belongs
     */
    public static void main(String[] arguments) throws IOException, ReflectiveOperationException, URISyntaxException {
        AgentJar jar = new AgentJar();
        jar.addBootstrap(Path.of(arguments[1]));
        jar.addTooling(Path.of(arguments[2]));
        jar.addTooling(Path.of(arguments[3]));
        jar.addLibrary(net.bytebuddy.ByteBuddy.class, name -> name.startsWith("net/bytebuddy/"));
        jar.addLibrary(com.sun.jna.Native.class,
                name -> name.matches("com/sun/jna/[^/]*\\.class|com/sun/jna/(linux-x86-64|internal|ptr)/.*"));
        jar.addPack();
        jar.addNative(Path.of(arguments[4]));
        for (String target : List.of(arguments).subList(5, arguments.length)) {
            JarWriting.write(Path.of(target), arguments[0], jar.entries);
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            return walk.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private void addBootstrap(Path folder) throws IOException, ReflectiveOperationException {
        Set<String> ordered = new LinkedHashSet<>();
        for (Path file : files(folder)) {
            String name = folder.relativize(file).toString();
            String type = name.substring(0, name.length() - ".class".length());
            byte[] code = Files.readAllBytes(file);
            if (name.endsWith("package-info.class")) {
                continue;
            }
            if (ROOT.contains(type) || type.equals(FACADE)) {
                entries.put(name, code);
            }
            if (!ROOT.contains(type)) {
                entries.put("boot/" + name + DATA, code);
                order(Class.forName(type.replace('/', '.'), false, AgentJar.class.getClassLoader()), ordered);
            }
        }
        entries.put("boot/index", String.join("\n", ordered).getBytes(StandardCharsets.UTF_8));
    }

    /** Adds a class after those that it extends, because it can be defined only then. */
    private static void order(Class<?> type, Set<String> ordered) {
        if (type != null && type.getName().startsWith("io.tessera.")) {
            order(type.getSuperclass(), ordered);
            for (Class<?> superType : type.getInterfaces()) {
                order(superType, ordered);
            }
            ordered.add(type.getName().replace('.', '/'));
        }
    }

    private void addTooling(Path folder) throws IOException {
        for (Path file : files(folder)) {
            String name = folder.relativize(file).toString();
            byte[] bytes = Files.readAllBytes(file);
            if (!name.endsWith("package-info.class")) {
                entries.put("inst/" + hidden(name), bytes);
            }
            if (name.endsWith(".table")) {
                String list = name.substring(0, name.lastIndexOf('/') + 1) + TableClasses.LIST;
                String classes = String.join("\n", TableClasses.of(new ByteArrayInputStream(bytes)));
                entries.put("inst/" + list, classes.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private void addLibrary(Class<?> member, Predicate<String> wanted) throws IOException, URISyntaxException {
        Path file = Path.of(member.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (JarFile jar = new JarFile(file.toFile())) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                if (!entry.isDirectory() && wanted.test(entry.getName())) {
                    try (InputStream in = jar.getInputStream(entry)) {
                        libraries.put(hidden(entry.getName()), in.readAllBytes());
                    }
                }
            }
        }
    }

    /** Files that are opened by URL stay outside. */
    private void addPack() throws IOException {
        libraries.entrySet().removeIf(file -> {
            boolean outside = file.getKey().endsWith(".so");
            if (outside) {
                entries.put("inst/" + file.getKey(), file.getValue());
            }
            return outside;
        });
        entries.put(JarWriting.PACK, PackWriting.of(libraries));
    }

    private static String hidden(String name) {
        return name.endsWith(".class") ? name + DATA : name;
    }

    private void addNative(Path folder) throws IOException {
        List<String> sums = new ArrayList<>();
        for (Path file : files(folder)) {
            byte[] library = Files.readAllBytes(file);
            String name = file.getFileName().toString();
            sums.add(sha256(library) + "  " + name);
            entries.put("native/" + name, library);
        }
        entries.put("native/SHA256SUMS", String.join("\n", sums).getBytes(StandardCharsets.UTF_8));
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException(absent);
        }
    }
}
