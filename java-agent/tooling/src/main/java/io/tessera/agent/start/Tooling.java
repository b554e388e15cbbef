package io.tessera.agent.start;

import io.tessera.agent.boot.GpuBean;
import io.tessera.agent.boot.GpuMXBean;
import io.tessera.agent.boot.Recorder;
import io.tessera.agent.host.AgentLog;
import io.tessera.agent.instrument.ClassCache;
import io.tessera.agent.instrument.Instrumenter;
import io.tessera.agent.instrument.Table;
import io.tessera.agent.instrument.WarmUp;
import io.tessera.agent.instrument.WrappedClasses;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.function.Consumer;
import java.util.jar.Attributes;
import java.util.jar.JarFile;

/**
 * The parts that are created with the first CUDA class: the recorder, ByteBuddy, the bean, the events, the agent's one thread. An
 * application that never uses CUDA does not pay for them. Any thread.
 *
 * <p>Most of them are created by threads that load classes, under {@link LoadingLock}s. The bean has a lock of its own that no
 * such thread takes: the platform's bean server loads native libraries and runs others' initialisers.
 */
final class Tooling implements Consumer<String>, ClassLoadWatch.Recording, AgentThread.Errands {
    /** With fewer processors, loading ByteBuddy in parallel would slow down the application's start. */
    private static final int ENOUGH_PROCESSORS = 4;

    private final Options options;
    private final Instrumentation instrumentation;
    private final boolean late;
    private final String driver;
    private final JarFile jar;
    private final BootClasses classes;
    private final WrappedClasses wrapped = new WrappedClasses();
    private final LoadingLock making = new LoadingLock();
    /** Guards the first instrumentation: it initialises ByteBuddy's classes, which refer to each other, so only one thread may do it. */
    private final LoadingLock first = new LoadingLock();
    private final Object managing = new Object();
    private volatile ClassCache cache;
    private volatile Table table;
    private volatile Instrumenter instrumenter;
    private boolean recording;
    private boolean managed;

    Tooling(Options options, Instrumentation instrumentation, boolean late, String driver, JarFile jar,
            BootClasses classes) {
        this.options = options;
        this.instrumentation = instrumentation;
        this.late = late;
        this.driver = driver;
        this.jar = jar;
        this.classes = classes;
    }

    /** Watches for CUDA classes; in a late attach, also transforms those that are already loaded. */
    void await() throws IOException {
        ClassLoadWatch watch = new ClassLoadWatch(Table.classes(options.get("table", null)), this);
        instrumentation.addTransformer(watch, true);
        if (instrumentation.isNativeMethodPrefixSupported()) {
            instrumentation.setNativeMethodPrefix(watch, Instrumenter.NATIVE_PREFIX);
        }
        if (ClassPath.mentionsCuda() && Runtime.getRuntime().availableProcessors() >= ENOUGH_PROCESSORS
                && !cache().isFilled()) {
            AgentThread.prepare(this);
        }
        if (late) {
            record();
            manage();
            watch.takeLoaded(instrumentation);
        }
    }

    /** Makes the recorder usable and starts the agent's thread; a second call does nothing. */
    @Override
    public void record() throws IOException {
        making.hold(() -> {
            if (!recording) {
                recording = true;
                classes.defineOthers();
                mode(options.get("record", "sampled"));
                AgentThread.start(this, options.is("release", "yes", "no"), options.is("jfr", "on", "on"));
            }
            return null;
        });
    }

    @Override
    public byte[] kept(ClassLoader loader, String name, byte[] code) throws IOException {
        ClassCache.Kept kept = cache().find(name, code);
        if (kept == null) {
            return null;
        }
        table();
        if (kept.wrapped()) {
            wrapped.add(loader, name);
        }
        return kept.code();
    }

    @Override
    public byte[] instrumented(ClassLoader loader, String name, byte[] code, boolean loaded) throws IOException {
        if (instrumenter != null) {
            return instrumenter.instrument(loader, name, code, loaded);
        }
        return first.hold(() -> {
            Instrumenter made = new Instrumenter(table(), wrapped, cache());
            byte[] now = made.instrument(loader, name, code, loaded);
            instrumenter = made;
            return now;
        });
    }

    @Override
    public void warmUp() throws IOException {
        first.hold(() -> {
            if (instrumenter == null) {
                WarmUp.run();
            }
            return null;
        });
    }

    private ClassCache cache() throws IOException {
        return cache != null ? cache : making.hold(() -> {
            if (cache == null) {
                // A user's table may change with every start.
                boolean built = options.get("table", null) == null;
                cache = new ClassCache(built ? CacheFolder.of(options.get("cache", null)) : null, Build.of(jar));
            }
            return cache;
        });
    }

    /** Reads the rules and makes the recorder usable; reading them registers the libraries' classes with it. */
    private Table table() throws IOException {
        return table != null ? table : making.hold(() -> {
            record();
            if (table == null) {
                table = Table.read(options.get("table", null), AgentLog::say);
            }
            return table;
        });
    }

    /** Handles a second start of the agent: applies its {@code record=} and registers the bean at once. */
    @Override
    public void accept(String again) {
        try {
            record();
            mode(again);
            manage();
        } catch (IOException failure) {
            AgentLog.say("not started: " + failure.getMessage());
        }
    }

    private static void mode(String mode) {
        try {
            if (!mode.isEmpty()) {
                Recorder.mode(mode);
            }
        } catch (IllegalArgumentException wrong) {
            AgentLog.say("ignored: " + wrong.getMessage());
        }
    }

    @Override
    public boolean isManagedAtOnce() {
        return options.is("jmx", "on", "");
    }

    @Override
    public void manage() {
        synchronized (managing) {
            if (managed || options.is("jmx", "off", "on")) {
                return;
            }
            managed = true;
            if (ModuleLayer.boot().findModule("java.management").isEmpty()) {
                return;
            }
            try {
                Management.register(new GpuBean(version(), late, driver), GpuMXBean.NAME);
            } catch (IOException | RuntimeException | LinkageError failure) {
                AgentLog.say("no management bean: " + failure.getMessage());
            }
        }
    }

    private String version() throws IOException {
        String version = jar.getManifest().getMainAttributes().getValue(Attributes.Name.IMPLEMENTATION_VERSION);
        return version == null ? "unknown" : version;
    }
}
