package io.tessera.autotalk.header;

import io.tessera.autotalk.input.InputException;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Preprocesses several headers in sequence; macros of earlier headers apply in later ones.
 *
 * <p>The predefined macros are those of C11 on x86-64 Linux, as far as driver headers use them. Not thread-safe;
 * one instance is one translation.
 */
final class Preprocessor {
    /** An open conditional: whether its text is active now, whether a branch was taken, whether the enclosing text is active. */
    private record Branch(boolean active, boolean taken, boolean outside, Token opened) {
    }

    private final MacroTable macros = new MacroTable();
    private final Deque<Branch> branches = new ArrayDeque<>();
    private final List<Token> out = new ArrayList<>();

    /** @param defines names to be defined as 1 before the first line */
    Preprocessor(List<String> defines) {
        for (String name : List.of("__LP64__", "_LP64", "__linux__", "__x86_64__")) {
            macros.define(Macro.object(name, "1"));
        }
        macros.define(Macro.object("__STDC_VERSION__", "201112L"));
        defines.forEach(name -> macros.define(Macro.object(name, "1")));
    }

    /** Appends the tokens of a header. */
    void read(String file, String source) {
        for (LogicalLine line : LogicalLine.split(source)) {
            String text = line.text().strip();
            if (text.startsWith("#")) {
                directive(Tokenizer.tokens(text.substring(1), file, line.number()), text, file, line.number());
            } else if (active() && !text.isEmpty()) {
                out.addAll(macros.expand(Tokenizer.tokens(text, file, line.number())));
            }
        }
        if (!branches.isEmpty()) {
            Token opened = branches.peek().opened();
            throw new InputException(opened.file(), opened.line(), "conditional without #endif");
        }
    }

    /** Returns the tokens of all headers so far. */
    List<Token> tokens() {
        return List.copyOf(out);
    }

    /** Returns the integer value of a macro, such as {@code CUDA_VERSION}; -1: it is not defined. */
    long integer(String name) {
        if (!macros.defined(name)) {
            return -1;
        }
        Token token = Token.of(Token.Kind.IDENTIFIER, name, "<macro " + name + ">", 0);
        return PreprocessorCondition.value(macros.expand(List.of(token)), token);
    }

    private boolean active() {
        return branches.isEmpty() || branches.peek().active();
    }

    private void directive(List<Token> tokens, String text, String file, int line) {
        if (tokens.isEmpty()) {
            return;
        }
        Token name = tokens.getFirst();
        List<Token> rest = tokens.subList(1, tokens.size());
        switch (name.text()) {
            case "if" -> open(active() && PreprocessorCondition.holds(rest, macros, name), name);
            case "ifdef" -> open(active() && macros.defined(first(rest, name).text()), name);
            case "ifndef" -> open(active() && !macros.defined(first(rest, name).text()), name);
            case "elif" -> {
                Branch branch = close(name);
                branches.push(branch);
                reopen(!branch.taken() && branch.outside() && PreprocessorCondition.holds(rest, macros, name), name);
            }
            case "else" -> reopen(true, name);
            case "endif" -> close(name);
            case "define" -> whileActive(() -> macros.define(List.of(rest.toArray(Token[]::new)), text));
            case "undef" -> whileActive(() -> macros.undefine(first(rest, name).text()));
            case "error" -> whileActive(() -> {
                throw new InputException(file, line, "the header refuses: " + text);
            });
            case "include", "pragma", "line", "warning" -> {
                /* Other headers are named on the command line; the rest has no bearing on declarations. */
            }
            default -> throw new InputException(file, line, "unknown directive #" + name.text());
        }
    }

    private void whileActive(Runnable effect) {
        if (active()) {
            effect.run();
        }
    }

    private void open(boolean holds, Token directive) {
        branches.push(new Branch(holds, holds, active(), directive));
    }

    private void reopen(boolean holds, Token directive) {
        Branch before = close(directive);
        boolean activeNow = before.outside() && !before.taken() && holds;
        branches.push(new Branch(activeNow, before.taken() || activeNow, before.outside(), before.opened()));
    }

    private Branch close(Token directive) {
        if (branches.isEmpty()) {
            throw new InputException(directive.file(), directive.line(), "#" + directive.text() + " without #if");
        }
        return branches.pop();
    }

    private static Token first(List<Token> rest, Token directive) {
        if (rest.isEmpty()) {
            throw new InputException(directive.file(), directive.line(), "#" + directive.text() + " without a name");
        }
        return rest.getFirst();
    }
}
