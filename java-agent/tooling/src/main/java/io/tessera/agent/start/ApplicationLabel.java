package io.tessera.agent.start;

import java.io.File;
import java.io.IOException;

/** Label for what the JVM runs. */
final class ApplicationLabel {
    private static final int MOST = 48;

    private ApplicationLabel() {
    }

    /** Returns the main class without its package, or the jar's name, with the pid; the form that `tessera run` uses. */
    static String label() {
        String command = System.getProperty("sun.java.command", "java").strip();
        int blank = command.indexOf(' ');
        String main = blank < 0 ? command : command.substring(0, blank);
        String name = main.substring(main.lastIndexOf('/') + 1);
        if (name.endsWith(".jar")) {
            name = name.substring(0, name.length() - ".jar".length());
        } else {
            name = name.substring(name.lastIndexOf('.') + 1);
        }
        if (name.isEmpty()) {
            name = "java";
        }
        return name.substring(0, Math.min(MOST, name.length())) + "-" + pid();
    }

    /** Returns the process id without ProcessHandle, which would start its thread pool. */
    private static String pid() {
        try {
            return new File("/proc/self").getCanonicalFile().getName();
        } catch (IOException absent) {
            return Long.toString(ProcessHandle.current().pid());
        }
    }
}
