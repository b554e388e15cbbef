package io.tessera.autotalk.header;

import java.util.Set;

/**
 * A token of C source.
 *
 * @param kind   its kind
 * @param text   its spelling; for a string or character constant with its quotes
 * @param file   the header that contains it
 * @param line   line of that header, from 1
 * @param origin the identifier in the source whose macro expansion produced it; otherwise its own text
 * @param hidden macros that must not be expanded in it again (C11 6.10.3.4: no macro expands itself)
 */
record Token(Kind kind, String text, String file, int line, String origin, Set<String> hidden) {
    enum Kind {
        IDENTIFIER, NUMBER, TEXT, PUNCTUATION, END
    }

    static Token of(Kind kind, String text, String file, int line) {
        return new Token(kind, text, file, line, text, Set.of());
    }

    /** Returns this token as a product of the expansion of {@code invocation}. */
    Token expandedFrom(Token invocation, Set<String> hiddenNow) {
        return new Token(kind, text, invocation.file, invocation.line, invocation.origin, hiddenNow);
    }

    boolean is(String spelling) {
        return text.equals(spelling);
    }

    boolean identifier() {
        return kind == Kind.IDENTIFIER;
    }
}
