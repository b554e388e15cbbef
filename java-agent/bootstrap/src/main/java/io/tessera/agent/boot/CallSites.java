package io.tessera.agent.boot;

import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Finds the call site of an event: the first frame that belongs neither to the agent, nor to an instrumented library,
 * nor to the JDK's reflection. Takes a stack, so it allocates and costs some microseconds; {@link Sampling} bounds
 * how often. Any thread. Holds at most {@value #MOST} sites.
 */
final class CallSites {
    private static final int MOST = 4096;
    private static final int DEEPEST = 64;
    private static final Site OTHER = new Site("", "other");

    private final ConcurrentHashMap<String, Site> known = new ConcurrentHashMap<>();
    private final StackWalker walker = StackWalker.getInstance();
    private volatile String[] libraries = {"io.tessera.agent.boot.", "jdk.internal.reflect.", "java.lang.reflect.",
            "java.lang.invoke."};

    /** Adds a prefix of class names that are never call sites: a library's package with its trailing dot. */
    synchronized void addLibrary(String prefix) {
        String[] more = new String[libraries.length + 1];
        System.arraycopy(libraries, 0, more, 0, libraries.length);
        more[libraries.length] = prefix;
        libraries = more;
    }

    /** Returns the caller's site, or {@code other} once there are too many sites. */
    Site here() {
        return walker.walk(this::first);
    }

    private Site first(Stream<StackWalker.StackFrame> frames) {
        // A loop: this is run too seldom to be compiled, and a pipeline costs a quarter more.
        Iterator<StackWalker.StackFrame> each = frames.iterator();
        for (int depth = 0; depth < DEEPEST && each.hasNext(); depth++) {
            StackWalker.StackFrame frame = each.next();
            if (isApplication(frame.getClassName())) {
                return of(frame);
            }
        }
        return OTHER;
    }

    private Site of(StackWalker.StackFrame frame) {
        String type = frame.getClassName();
        String text = type + "." + frame.getMethodName() + ":" + frame.getLineNumber();
        Site site = known.get(text);
        if (site != null) {
            return site;
        }
        if (known.size() >= MOST) {
            AgentCounters.drop();
            return OTHER;
        }
        return known.computeIfAbsent(text, t -> new Site(type, t));
    }

    private boolean isApplication(String type) {
        for (String prefix : libraries) {
            if (type.startsWith(prefix)) {
                return false;
            }
        }
        return true;
    }
}
