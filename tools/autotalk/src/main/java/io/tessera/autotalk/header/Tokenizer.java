package io.tessera.autotalk.header;

import java.util.ArrayList;
import java.util.List;

/** Splits a logical line into preprocessing tokens. Stateless. */
final class Tokenizer {
    /** Punctuators of more than one character that declarations and conditions use, longest first. */
    private static final List<String> LONG_PUNCTUATORS = List.of("...", "<<", ">>", "##", "&&", "||", "==", "!=", "<=", ">=", "->");

    private Tokenizer() {
    }

    static List<Token> tokens(String text, String file, int line) {
        List<Token> tokens = new ArrayList<>();
        int at = 0;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (Character.isWhitespace(c)) {
                at++;
                continue;
            }
            int end;
            Token.Kind kind;
            if (Character.isLetter(c) || c == '_') {
                kind = Token.Kind.IDENTIFIER;
                end = wordEnd(text, at);
            } else if (Character.isDigit(c)) {
                kind = Token.Kind.NUMBER;
                end = wordEnd(text, at);
            } else if (c == '"' || c == '\'') {
                kind = Token.Kind.TEXT;
                end = quotedEnd(text, at);
            } else {
                kind = Token.Kind.PUNCTUATION;
                end = at + punctuatorLength(text, at);
            }
            tokens.add(Token.of(kind, text.substring(at, end), file, line));
            at = end;
        }
        return tokens;
    }

    private static int wordEnd(String text, int at) {
        int end = at;
        while (end < text.length() && (Character.isLetterOrDigit(text.charAt(end)) || text.charAt(end) == '_')) {
            end++;
        }
        return end;
    }

    private static int quotedEnd(String text, int at) {
        char quote = text.charAt(at);
        for (int end = at + 1; end < text.length(); end++) {
            if (text.charAt(end) == '\\') {
                end++;
            } else if (text.charAt(end) == quote) {
                return end + 1;
            }
        }
        return text.length();
    }

    private static int punctuatorLength(String text, int at) {
        for (String punctuator : LONG_PUNCTUATORS) {
            if (text.startsWith(punctuator, at)) {
                return punctuator.length();
            }
        }
        return 1;
    }
}
