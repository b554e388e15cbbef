package io.tessera.autotalk.generate;

/** First line of every generated file; a comment in C, Java, assembly (through the C preprocessor) and version scripts. */
final class FileNotice {
    static final String TEXT = "/* Written by autotalk from native-preload/api; not edited and not committed. */\n";

    private FileNotice() {
    }
}
