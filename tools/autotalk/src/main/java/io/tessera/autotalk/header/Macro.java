package io.tessera.autotalk.header;

import java.util.List;

/**
 * A macro that is currently defined.
 *
 * @param name         its name
 * @param functionLike whether it takes arguments
 * @param parameters   their names, empty for an object-like macro
 * @param body         its replacement
 */
record Macro(String name, boolean functionLike, List<String> parameters, List<Token> body) {
    static Macro object(String name, String replacement) {
        return new Macro(name, false, List.of(), Tokenizer.tokens(replacement, "<predefined>", 0));
    }
}
