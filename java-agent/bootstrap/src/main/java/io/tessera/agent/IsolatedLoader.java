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
 * Loads the agent's insides, ByteBuddy and JNA among them, from {@code inst/*.classdata} of the agent's jar. No other
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

    private IsolatedLoader(Path path) throws IOException {
        super("tessera-agent", ClassLoader.getPlatformClassLoader());
        this.path = path;
        this.jar = new JarFile(path.toFile(), false);
        this.domain = new ProtectionDomain(new CodeSource(url(""), (Certificate[]) null), null, this, null);
    }

    /** The loader of this JVM, made at the first call. */
    static synchronized IsolatedLoader of(Path jar) throws IOException {
        if (only == null) {
            only = new IsolatedLoader(jar);
        }
        return only;
    }

    /** The agent's own jar; it stays open. */
    JarFile jar() {
        return jar;
    }


    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        JarEntry entry = jar.getJarEntry(FOLDER + name.replace('.', '/') + ".classdata");
        if (entry == null) {
            throw new ClassNotFoundException(name);
        }
        try (InputStream in = jar.getInputStream(entry)) {
            byte[] code = in.readAllBytes();
            return defineClass(name, code, 0, code.length, domain);
        } catch (IOException failure) {
            throw new ClassNotFoundException(name, failure);
        }
    }

    /** Straight from the jar: the detour by a URL costs milliseconds at the JVM's start. */
    @Override
    public InputStream getResourceAsStream(String name) {
        JarEntry entry = jar.getJarEntry(entry(name));
        try {
            return entry == null ? super.getResourceAsStream(name) : jar.getInputStream(entry);
        } catch (IOException unreadable) {
            return null;
        }
    }

    private static String entry(String name) {
        return FOLDER + (name.endsWith(".class") ? name + "data" : name);
    }

    @Override
    protected URL findResource(String name) {
        String entry = entry(name);
        try {
            return jar.getJarEntry(entry) == null ? null : url("!/" + entry);
        } catch (MalformedURLException impossible) {
            return null;
        }
    }

    private URL url(String entry) throws MalformedURLException {
        String file = path.toUri().toURL().toString();
        return new URL(entry.isEmpty() ? file : "jar:" + file + entry);
    }
}
