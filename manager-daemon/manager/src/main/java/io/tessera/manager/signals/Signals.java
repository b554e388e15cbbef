package io.tessera.manager.signals;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Installs signal handlers. HotSpot has no supported interface for that. {@code sun.misc.Signal} of the module {@code jdk.unsupported} is used
 * through reflection, because naming it is a compiler warning that cannot be suppressed.
 *
 * <p>HotSpot on Linux suspends its threads with SIGUSR2 (for profilers and Flight Recorder) unless the environment of the process names another
 * signal in {@code _JAVA_SR_SIGNUM} (above SIGSEGV, below 65), as the launcher does. JDK 25 lets a handler replace its own without a warning, so
 * {@link #install} warns. Handlers run on a thread of the JVM. Signals that arrive together are handled once each, in the order of their numbers.
 */
public final class Signals {
    private static final String SUSPENSION_VARIABLE = "_JAVA_SR_SIGNUM";
    private static final Logger LOG = LoggerFactory.getLogger(Signals.class);

    private Signals() {
    }

    /**
     * Runs a command at every arrival of a signal.
     *
     * @param name    without SIG: {@code USR1}
     * @param command runs on a thread of the JVM; must not wait
     * @return whether the handler is installed; if not, the log says why and what to do
     */
    public static boolean install(String name, Runnable command) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object proxy = Proxy.newProxyInstance(Signals.class.getClassLoader(), new Class<?>[] {handler},
                    (self, method, arguments) -> switch (method.getName()) {
                        case "handle" -> {
                            command.run();
                            yield null;
                        }
                        case "equals" -> self == arguments[0];
                        case "hashCode" -> System.identityHashCode(self);
                        default -> "handler of SIG" + name;
                    });
            signal.getMethod("handle", signal, handler).invoke(null,
                    signal.getConstructor(String.class).newInstance(name), proxy);
            if (name.equals("USR2") && !suspensionMoved()) {
                LOG.warn("SIGUSR2 was taken from the JVM, which suspends threads with it: profilers and Flight Recorder "
                        + "do not work in this process. Start it with {}=40 in its environment, as tools/tessera does",
                        SUSPENSION_VARIABLE);
            }
            return true;
        } catch (InvocationTargetException e) {
            LOG.warn("SIG{} cannot be handled: {}; use the control socket", name, e.getCause().getMessage());
            return false;
        } catch (ReflectiveOperationException e) {
            LOG.warn("SIG{} cannot be handled: this Java has no sun.misc.Signal ({}); use the control socket", name,
                    e.toString());
            return false;
        }
    }

    private static boolean suspensionMoved() {
        String number = System.getenv(SUSPENSION_VARIABLE);
        return number != null && !number.equals("12"); // 12: SIGUSR2 on x86-64 and AArch64
    }
}
