package io.tessera.agent;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;

/**
 * Entry points that the JVM calls for {@code -javaagent} and for a late attach. Almost empty on purpose: this class and
 * {@link IsolatedLoader} are the only ones beside the application's classes, so the less they do, the less they can disturb. If anything
 * fails, one line is written to stderr and the application continues as if there were no agent.
 */
public final class PreMain {
    private static final String START = "io.tessera.agent.start.Startup";

    private PreMain() {
    }

    /**
     * Starts the agent before the application.
     *
     * @param options {@code key=value,...} or null
     * @param instrumentation the JVM's
     */
    public static void premain(String options, Instrumentation instrumentation) {
        begin(options, instrumentation, false);
    }

    /**
     * Starts the agent in a running JVM; earlier allocations remain unknown to the agent.
     *
     * @param options {@code key=value,...} or null
     * @param instrumentation the JVM's
     */
    public static void agentmain(String options, Instrumentation instrumentation) {
        begin(options, instrumentation, true);
    }

    // An agent that throws out of premain ends its JVM; hence everything is caught, errors of the linker included.
    private static void begin(String options, Instrumentation instrumentation, boolean late) {
        try {
            IsolatedLoader loader = IsolatedLoader.of(ownJar());
            Class.forName(START, true, loader)
                    .getMethod("begin", String.class, Object.class)
                    .invoke(null, options, new Object[] {instrumentation, late, loader.jar()});
        } catch (InvocationTargetException failure) {
            say(failure.getCause());
        } catch (Throwable failure) {
            say(failure);
        }
    }

    private static Path ownJar() throws URISyntaxException {
        CodeSource source = PreMain.class.getProtectionDomain().getCodeSource();
        if (source == null) {
            throw new IllegalStateException("the agent does not know its own jar");
        }
        return Path.of(source.getLocation().toURI());
    }

    private static void say(Throwable failure) {
        System.err.println("tessera-agent: not started, the application runs without it: " + failure);
    }
}
