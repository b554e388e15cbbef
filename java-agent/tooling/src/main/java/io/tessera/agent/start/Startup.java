package io.tessera.agent.start;

import io.tessera.agent.boot.Control;
import io.tessera.agent.driver.DriverLoading;
import io.tessera.agent.host.AgentLog;
import io.tessera.agent.host.JavaBase;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.jar.JarFile;

/**
 * The order of the agent's start: what must come before the application's first class (the driver), and a transformer
 * that waits for the first CUDA class before it loads anything else. Called once for each start or attach.
 */
public final class Startup {
    private Startup() {
    }

    /**
     * Starts the agent, or passes the options of a second start to the first. The signature has the shape of the JVM's own call of premain;
     * another shape would first need a new kind of method handle.
     *
     * @param text the options, or null
     * @param start the JVM's {@code Instrumentation}, whether the JVM is already running, and the agent's jar
     * @throws IOException if the agent cannot work at all
     */
    public static synchronized void begin(String text, Object start) throws IOException {
        Object[] parts = (Object[]) start;
        Instrumentation instrumentation = (Instrumentation) parts[0];
        JarFile jar = (JarFile) parts[2];
        Options options = Options.of(text);
        Consumer<String> running = first();
        if (running != null) {
            running.accept(options.get("record", ""));
            return;
        }
        AgentLog.to(options.get("log", ""));
        if (!options.complaints().isEmpty()) {
            AgentLog.say("ignored: " + String.join("; ", options.complaints()));
        }
        JavaBase.export(instrumentation, "jdk.internal.misc", "jdk.internal.loader");
        BootClasses classes = new BootClasses(jar, instrumentation);
        classes.defineFirst();
        boolean late = (Boolean) parts[1];
        String driver = driver(options, jar, late);
        Tooling tooling = new Tooling(options, instrumentation, late, driver, jar, classes);
        Control.running(tooling);
        tooling.await();
    }

    private static Consumer<String> first() {
        try {
            Class.forName("io.tessera.agent.boot.Control", false, null);
            return Control.running();
        } catch (ClassNotFoundException none) {
            return null;
        }
    }

    /** Returns the environment variables that pass the options to the library. */
    static Map<String, String> environment(Options options) {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("TESSERA_SHARE", options.get("share", "auto"));
        environment.put("TESSERA_PLAN", options.get("plan", Options.DEFAULT_PLAN));
        environment.put("TESSERA_NAME", options.get("tenant", ApplicationLabel.label()));
        String memory = options.get("memory", null);
        if (memory != null) {
            environment.put("TESSERA_MEMORY", memory);
        }
        return environment;
    }

    private static String driver(Options options, JarFile jar, boolean late) {
        if (options.is("driver", "no", "yes")) {
            return "none";
        }
        try {
            String driver = new DriverLoading(environment(options), options.is("runtime", "yes", "no"), late)
                    .load(jar, options.get("folder", null));
            if (!late && driver.equals("vendor")) {
                AgentLog.say("the process has another CUDA driver already and keeps it: it shares nothing");
            }
            return driver;
        } catch (IOException | RuntimeException | LinkageError failure) {
            AgentLog.say("the application keeps the vendor's driver: " + failure.getMessage());
            return "none";
        }
    }
}
