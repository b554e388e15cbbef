package io.tessera.agent.start;

import java.util.Locale;

/** Guesses about the application from its class or module path. */
final class ClassPath {
    private static final String[] WORDS = {"cuda", "tornado", "jcublas", "nd4j"};

    private ClassPath() {
    }

    /**
     * Returns whether it names a file whose name suggests CUDA, so that ByteBuddy will probably be needed soon. A guess; correctness does
     * not depend on it.
     */
    static boolean mentionsCuda() {
        String paths = (System.getProperty("java.class.path", "") + System.getProperty("jdk.module.path", ""))
                .toLowerCase(Locale.ROOT);
        for (String word : WORDS) {
            if (paths.contains(word)) {
                return true;
            }
        }
        return false;
    }
}
