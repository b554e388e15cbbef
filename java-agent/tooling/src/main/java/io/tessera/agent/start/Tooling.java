package io.tessera.agent.start;

import io.tessera.agent.boot.GpuBean;
import io.tessera.agent.boot.GpuMXBean;
import io.tessera.agent.boot.Owners;
import io.tessera.agent.host.Speech;
import io.tessera.agent.instrument.Instrumenter;
import io.tessera.agent.instrument.Table;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.jar.Attributes;
import java.util.jar.JarFile;

/**
 * Everything that waits for the first CUDA class: ByteBuddy, the bean, the events, the agent's one thread. An application
 * that never uses CUDA pays for none of it. Any thread.
 */
final class Tooling {
    private static final long PERIOD_MS = 500;

    private final Options options;
    private final Instrumentation instrumentation;
    private final boolean late;
    private final String driver;
    private final JarFile jar;
    private final AtomicBoolean managed = new AtomicBoolean();
    private final AtomicBoolean started = new AtomicBoolean();

    Tooling(Options options, Instrumentation instrumentation, boolean late, String driver, JarFile jar) {
        this.options = options;
        this.instrumentation = instrumentation;
        this.late = late;
        this.driver = driver;
        this.jar = jar;
    }

    /** Watches for CUDA classes; in a late attach also takes those that are loaded. */
    void await() throws IOException {
        Table table = Table.read(options.get("table", null), Speech::say);
        Watch watch = new Watch(table.classes(), () -> {
            startThread();
            return new Instrumenter(table);
        });
        instrumentation.addTransformer(watch, true);
        if (instrumentation.isNativeMethodPrefixSupported()) {
            instrumentation.setNativeMethodPrefix(watch, Instrumenter.NATIVE_PREFIX);
        }
        if (late) {
            manage();
            startThread();
            watch.takeLoaded(instrumentation);
        }
    }

    /** Registers the bean if it is not yet there. */
    void manage() {
        if (options.is("jmx", "off", "on") || !managed.compareAndSet(false, true)) {
            return;
        }
        try {
            Management.register(new GpuBean(version(), late, driver), GpuMXBean.NAME);
        } catch (IOException | RuntimeException | LinkageError failure) {
            Speech.say("no management bean: " + failure.getMessage());
        }
    }

    private String version() throws IOException {
        String version = jar.getManifest().getMainAttributes().getValue(Attributes.Name.IMPLEMENTATION_VERSION);
        return version == null ? "unknown" : version;
    }

    private void startThread() {
        if (started.compareAndSet(false, true)) {
            Thread thread = new Thread(null, this::work, "tessera-agent", 1 << 18, false);
            thread.setDaemon(true);
            thread.setContextClassLoader(null);
            thread.start();
        }
    }

    private void work() {
        manage();
        boolean release = options.is("release", "yes", "no");
        try {
            while (true) {
                Owners.noteCollected();
                if (release) {
                    Owners.release();
                }
                Thread.sleep(PERIOD_MS);
            }
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }
}
