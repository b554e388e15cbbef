package io.tessera.agent.start;

import io.tessera.agent.internals.BootDefinition;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/**
 * Defines the classes of {@code boot/} in the bootstrap loader. It does not append a jar to the loader's search path: the JVM would then
 * print a warning on the application's stdout and disable class-data sharing for all but its own classes (CLASSLOADERS.md). Only in a JVM
 * without the entry that is used instead, the jar is appended. There are two steps: the classes that the driver needs at the start, and the
 * recorder when the first CUDA class is loaded. Any thread.
 */
final class BootClasses {
    private static final String FOLDER = "boot/";
    private static final String INDEX = FOLDER + "index";
    private static final String SUFFIX = ".classdata";
    private static final List<String> FIRST = List.of("io/tessera/agent/clock/Ticks$Source",
            "io/tessera/agent/clock/Ticks", "io/tessera/agent/boot/Control", "io/tessera/agent/boot/Natives");

    private final JarFile jar;
    private final Instrumentation instrumentation;
    private boolean whole;

    BootClasses(JarFile jar, Instrumentation instrumentation) {
        this.jar = jar;
        this.instrumentation = instrumentation;
    }

    /** Defines the few classes that the start needs. */
    synchronized void defineFirst() throws IOException {
        try {
            for (String name : FIRST) {
                BootDefinition.define(name, bytes(jar, FOLDER + name + SUFFIX));
            }
        } catch (LinkageError absent) {
            append();
            whole = true;
        }
    }

    /** Defines all other classes; a second call does nothing. */
    synchronized void defineOthers() throws IOException {
        if (whole) {
            return;
        }
        whole = true;
        for (String name : names()) {
            if (!FIRST.contains(name)) {
                BootDefinition.define(name, bytes(jar, FOLDER + name + SUFFIX));
            }
        }
    }

    private String[] names() throws IOException {
        return new String(bytes(jar, INDEX), StandardCharsets.UTF_8).split("\n");
    }

    private void append() throws IOException {
        Path file = Files.createTempFile("tessera-agent-", ".jar");
        file.toFile().deleteOnExit();
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(file))) {
            for (String name : names()) {
                out.putNextEntry(new JarEntry(name + ".class"));
                out.write(bytes(jar, FOLDER + name + SUFFIX));
                out.closeEntry();
            }
        }
        instrumentation.appendToBootstrapClassLoaderSearch(new JarFile(file.toFile()));
    }

    private static byte[] bytes(JarFile jar, String name) throws IOException {
        JarEntry entry = jar.getJarEntry(name);
        if (entry == null) {
            throw new IOException(jar.getName() + " holds no " + name);
        }
        try (InputStream in = jar.getInputStream(entry)) {
            return in.readAllBytes();
        }
    }
}
