package io.tessera.agent.start;

import io.tessera.agent.host.JavaBase;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/**
 * Defines the classes of {@code boot/} in the bootstrap loader. Not by appending a jar to its search path: that makes the
 * JVM print a warning on the application's stdout and give up class-data sharing for everything but its own classes
 * (CLASSLOADERS.md). Where a JVM does not have the entry that is used instead, the jar is appended after all.
 */
final class BootClasses {
    private static final String FOLDER = "boot/";
    private static final String INDEX = FOLDER + "index";
    private static final String SUFFIX = ".classdata";

    private BootClasses() {
    }

    /** Defines them; after it they can be used. */
    static void define(JarFile jar, Instrumentation instrumentation) throws IOException {
        String[] names = new String(bytes(jar, INDEX), StandardCharsets.UTF_8).split("\n");
        Method define;
        Object unsafe;
        try {
            JavaBase.export(instrumentation, "jdk.internal.misc");
            Class<?> type = Class.forName("jdk.internal.misc.Unsafe");
            unsafe = type.getMethod("getUnsafe").invoke(null);
            define = type.getMethod("defineClass", String.class, byte[].class, int.class, int.class, ClassLoader.class,
                    ProtectionDomain.class);
        } catch (ReflectiveOperationException | RuntimeException absent) {
            append(jar, names, instrumentation);
            return;
        }
        for (String name : names) {
            byte[] code = bytes(jar, FOLDER + name + SUFFIX);
            try {
                define.invoke(unsafe, name, code, 0, code.length, null, null);
            } catch (ReflectiveOperationException failure) {
                throw new IOException("the JVM does not take " + name, failure);
            }
        }
    }

    private static void append(JarFile jar, String[] names, Instrumentation instrumentation) throws IOException {
        Path file = Files.createTempFile("tessera-agent-", ".jar");
        file.toFile().deleteOnExit();
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(file))) {
            for (String name : names) {
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
