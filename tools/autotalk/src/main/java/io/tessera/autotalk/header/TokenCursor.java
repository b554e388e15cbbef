package io.tessera.autotalk.header;

import io.tessera.autotalk.input.InputException;

import java.util.ArrayList;
import java.util.List;

/** A position in a list of tokens. Not thread-safe. */
final class TokenCursor {
    private final List<Token> tokens;
    private final Token end;
    private int at;

    TokenCursor(List<Token> tokens) {
        this.tokens = tokens;
        Token last = tokens.isEmpty() ? Token.of(Token.Kind.END, "", "<empty>", 0) : tokens.getLast();
        this.end = Token.of(Token.Kind.END, "end of file", last.file(), last.line());
    }

    Token peek() {
        return peek(0);
    }

    Token peek(int ahead) {
        return at + ahead < tokens.size() ? tokens.get(at + ahead) : end;
    }

    Token next() {
        Token token = peek();
        at++;
        return token;
    }

    boolean atEnd() {
        return at >= tokens.size();
    }

    /** Consumes the next token if it is spelled so. */
    boolean accept(String spelling) {
        boolean matches = !atEnd() && peek().is(spelling);
        at += matches ? 1 : 0;
        return matches;
    }

    Token expect(String spelling) {
        if (!peek().is(spelling)) {
            throw error("'" + spelling + "' expected, found '" + peek().text() + "'");
        }
        return next();
    }

    /** Returns the tokens between an opening bracket, which is the next token, and its partner; both are consumed. */
    List<Token> bracketed(String open, String close) {
        Token opening = expect(open);
        List<Token> inside = new ArrayList<>();
        int depth = 1;
        while (true) {
            if (atEnd()) {
                throw new InputException(opening.file(), opening.line(), "'" + open + "' without '" + close + "'");
            }
            Token token = next();
            depth += token.is(open) ? 1 : token.is(close) ? -1 : 0;
            if (depth == 0) {
                return inside;
            }
            inside.add(token);
        }
    }

    InputException error(String problem) {
        return new InputException(peek().file(), peek().line(), problem);
    }
}
