package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.parse.Lexer.Kind;

/** Queries on the current token, for all parts of the parser. Not thread-safe. */
final class Tokens {
    /** Maximum nesting of blocks, initialisers and expressions: far beyond the output of compilers, and far below the depth of a stack. */
    static final int DEEPEST = 200;

    private final Lexer lexer;
    private int depth;
    private int nameLine;
    private int nameColumn;

    /** Stands at the first token of a text. */
    Tokens(byte[] text) throws PtxException {
        lexer = new Lexer(text);
        lexer.advance();
    }

    Kind kind() {
        return lexer.kind();
    }

    String word() {
        return lexer.word();
    }

    long bits() {
        return lexer.bits();
    }

    boolean unsigned() {
        return lexer.unsigned();
    }

    int line() {
        return lexer.line();
    }

    int column() {
        return lexer.column();
    }

    String shown() {
        return lexer.shown();
    }

    String source() {
        return lexer.source();
    }

    PtxException error(String what) {
        return lexer.error(what);
    }

    /** A finding at the name that was read last. */
    PtxException errorAtName(String what) {
        return new PtxException(nameLine, nameColumn, what);
    }

    void advance() throws PtxException {
        lexer.advance();
    }

    /** The punctuation that stands here, or 0. */
    int punctuation() {
        return lexer.kind() == Kind.PUNCTUATION ? lexer.punctuation() : 0;
    }

    boolean at(int punctuation) {
        return lexer.kind() == Kind.PUNCTUATION && lexer.punctuation() == punctuation;
    }

    boolean atDotted(String word) {
        return lexer.kind() == Kind.DOTTED && lexer.word().equals(word);
    }

    /** Passes over a punctuation if it stands here. */
    boolean accept(int punctuation) throws PtxException {
        if (!at(punctuation)) {
            return false;
        }
        lexer.advance();
        return true;
    }

    /** Passes over a directive if it stands here. */
    boolean acceptDotted(String word) throws PtxException {
        if (!atDotted(word)) {
            return false;
        }
        lexer.advance();
        return true;
    }

    void expect(char punctuation) throws PtxException {
        if (!accept(punctuation)) {
            throw error("expected '" + punctuation + "', found " + shown());
        }
    }

    /** A name of the program. */
    String name(String what) throws PtxException {
        if (lexer.kind() != Kind.NAME) {
            throw error("expected " + what + ", found " + shown());
        }
        String name = lexer.word();
        nameLine = lexer.line();
        nameColumn = lexer.column();
        lexer.advance();
        return name;
    }

    /** A directive or modifier, without its dot. */
    String dotted(String what) throws PtxException {
        if (lexer.kind() != Kind.DOTTED) {
            throw error("expected " + what + ", found " + shown());
        }
        String word = lexer.word();
        lexer.advance();
        return word;
    }

    /** A string, without its quotes. */
    String string(String what) throws PtxException {
        if (lexer.kind() != Kind.STRING) {
            throw error("expected " + what + ", found " + shown());
        }
        String word = lexer.word();
        lexer.advance();
        return word;
    }

    /** An integer constant from 0 to a highest value. */
    long integer(String what, long highest) throws PtxException {
        if (lexer.kind() != Kind.INTEGER || lexer.bits() < 0 || lexer.bits() > highest) {
            throw error("expected " + what + " from 0 to " + highest + ", found " + shown());
        }
        long value = lexer.bits();
        lexer.advance();
        return value;
    }

    /** Goes one level down; each call needs a {@link #leave}. */
    void enter() throws PtxException {
        if (++depth > DEEPEST) {
            throw error("nested deeper than " + DEEPEST);
        }
    }

    void leave() {
        depth--;
    }
}
