package io.tessera.agent;

import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Loads the agent's internal classes, including ByteBuddy and JNA, from {@code inst/} of the agent's jar. No other
 * loader can find classes under such names, so the application neither sees nor shares them; and this loader looks only
 * at itself and the JDK, so it never sees the application's versions of the same libraries. Any thread. One per JVM; it
 * is never closed, because instrumented classes are transformed as long as the JVM runs.
 */
public final class IsolatedLoader extends ClassLoader {
    private static final String FOLDER = "inst/";
    private static IsolatedLoader only;

    static {
        registerAsParallelCapable();
    }

    private final JarFile jar;
    private final Path path;
    private final ProtectionDomain domain;
    private final Pack pack;

    private IsolatedLoader(Path path) throws IOException {
        super("tessera-agent", ClassLoader.getPlatformClassLoader());
        this.path = path;
        this.jar = new JarFile(path.toFile(), false);
        this.domain = new ProtectionDomain(new CodeSource(path.toUri().toURL(), (Certificate[]) null), null, this,
                null);
        this.pack = new Pack(jar, jar.getJarEntry(FOLDER + "libraries.pack"));
    }

    /** Returns the loader of this JVM; the first call creates it. */
    static synchronized IsolatedLoader of(Path jar) throws IOException {
        if (only == null) {
            only = new IsolatedLoader(jar);
        }
        return only;
    }

    /** Returns the agent's own jar, which stays open. */
    JarFile jar() {
        return jar;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try (InputStream in = open(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] code = in.readAllBytes();
            return defineClass(name, code, 0, code.length, domain);
        } catch (IOException failure) {
            throw new ClassNotFoundException(name, failure);
        }
    }

    /** Opens the file of one of the agent's classes or resources; null: there is no such file. */
    private InputStream open(String name) throws IOException {
        String hidden = name.endsWith(".class") ? name + "data" : name;
        JarEntry entry = jar.getJarEntry(FOLDER + hidden);
        if (entry != null) {
            return jar.getInputStream(entry);
        }
        // Names of files in the pack begin with a library's package; other names need no search of the pack.
        return name.startsWith("net/bytebuddy/") || name.startsWith("com/sun/jna/") ? pack.open(hidden) : null;
    }

    @Override
    public InputStream getResourceAsStream(String name) {
        try {
            InputStream own = open(name);
            return own == null ? super.getResourceAsStream(name) : own;
        } catch (IOException unreadable) {
            return null;
        }
    }

    /** Finds a resource by URL: JNA's native library, which is stored outside the pack for this purpose. */
    @Override
    protected URL findResource(String name) {
        try {
            return jar.getJarEntry(FOLDER + name) == null ? null
                    : new URL("jar:" + path.toUri().toURL() + "!/" + FOLDER + name);
        } catch (MalformedURLException impossible) {
            return null;
        }
    }
}
