package io.tessera.agent.start;

import java.io.File;
import java.io.IOException;

/** What the JVM runs, for a label. */
final class ApplicationLabel {
    private static final int MOST = 48;

    private ApplicationLabel() {
    }

    /** Main class without its package, or the jar's name, with the pid: what `tessera run` would make of a command. */
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

    /** ProcessHandle would start its thread pool for this. */
    private static String pid() {
        try {
            return new File("/proc/self").getCanonicalFile().getName();
        } catch (IOException absent) {
            return Long.toString(ProcessHandle.current().pid());
        }
    }
}
