package io.tessera.agent.start;

import java.util.Locale;

/** What the application's class or module path says about it. */
final class ClassPath {
    private static final String[] WORDS = {"cuda", "tornado", "jcublas", "nd4j"};

    private ClassPath() {
    }

    /**
     * Whether it names a file that sounds of CUDA: then ByteBuddy will be needed soon. A guess; nothing depends on
     * it.
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
