package io.tessera.autotalk.header;

import io.tessera.autotalk.input.InputException;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The macros defined at this point of a translation, and their expansion (C11 6.10.3).
 *
 * <p>An invocation with arguments must stand on one logical line; the {@code #} operator is not supported. Neither
 * is used by driver headers across lines. Not thread-safe.
 */
final class MacroTable {
    private final Map<String, Macro> macros = new HashMap<>();

    void define(Macro macro) {
        macros.put(macro.name(), macro);
    }

    void undefine(String name) {
        macros.remove(name);
    }

    boolean defined(String name) {
        return macros.containsKey(name);
    }

    /** Reads what follows {@code #define}. */
    void define(List<Token> directive, String text) {
        Token name = directive.getFirst();
        int body = 1;
        boolean functionLike = directive.size() > 1 && directive.get(1).is("(") && opensAtOnce(text, name.text());
        List<String> parameters = new ArrayList<>();
        if (functionLike) {
            body = 2;
            while (body < directive.size() && !directive.get(body).is(")")) {
                if (!directive.get(body).is(",")) {
                    parameters.add(directive.get(body).text());
                }
                body++;
            }
            if (body == directive.size()) {
                throw new InputException(name.file(), name.line(), "macro parameters without ')'");
            }
            body++;
        }
        define(new Macro(name.text(), functionLike, parameters, List.copyOf(directive.subList(body, directive.size()))));
    }

    /** A macro is function-like only if its '(' follows the name without a blank. */
    private static boolean opensAtOnce(String text, String name) {
        int at = text.indexOf(name, text.indexOf("define") + "define".length()) + name.length();
        return at < text.length() && text.charAt(at) == '(';
    }

    /** Expands every macro in a line. */
    List<Token> expand(List<Token> line) {
        Deque<Token> rest = new ArrayDeque<>(line);
        List<Token> out = new ArrayList<>();
        while (!rest.isEmpty()) {
            Token token = rest.pop();
            Macro macro = token.identifier() && !token.hidden().contains(token.text())
                    ? macros.get(token.text()) : null;
            if (macro == null || macro.functionLike() && (rest.isEmpty() || !rest.peek().is("("))) {
                out.add(token);
                continue;
            }
            List<List<Token>> arguments = macro.functionLike() ? arguments(token, rest) : List.of();
            Set<String> hidden = new HashSet<>(token.hidden());
            hidden.add(macro.name());
            List<Token> replacement = replace(macro, arguments, token, Set.copyOf(hidden));
            for (int i = replacement.size() - 1; i >= 0; i--) {
                rest.push(replacement.get(i));
            }
        }
        return out;
    }

    private static List<List<Token>> arguments(Token macro, Deque<Token> rest) {
        rest.pop();
        List<List<Token>> arguments = new ArrayList<>();
        List<Token> argument = new ArrayList<>();
        int depth = 0;
        while (!rest.isEmpty()) {
            Token token = rest.pop();
            if (token.is(")") && depth == 0) {
                arguments.add(argument);
                return arguments;
            }
            if (token.is(",") && depth == 0) {
                arguments.add(argument);
                argument = new ArrayList<>();
                continue;
            }
            depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
            argument.add(token);
        }
        throw new InputException(macro.file(), macro.line(), "arguments of macro " + macro.text()
                + " do not end on their line");
    }

    private List<Token> replace(Macro macro, List<List<Token>> arguments, Token invocation, Set<String> hidden) {
        List<Token> body = macro.body();
        List<Token> out = new ArrayList<>();
        for (int i = 0; i < body.size(); i++) {
            Token token = body.get(i);
            if (token.is("##") && !out.isEmpty() && i + 1 < body.size()) {
                Token left = out.removeLast();
                List<Token> right = substitute(macro, arguments, body.get(++i), false);
                String pasted = left.text() + (right.isEmpty() ? "" : right.getFirst().text());
                out.add(new Token(left.kind(), pasted, left.file(), left.line(), left.origin(), left.hidden()));
                out.addAll(right.subList(Math.min(1, right.size()), right.size()));
                continue;
            }
            boolean pastedNext = i + 1 < body.size() && body.get(i + 1).is("##");
            out.addAll(substitute(macro, arguments, token, !pastedNext));
        }
        return out.stream().map(token -> token.expandedFrom(invocation, union(token.hidden(), hidden))).toList();
    }

    /** A body token, or the argument in its place; arguments next to a pasting operator are not expanded first. */
    private List<Token> substitute(Macro macro, List<List<Token>> arguments, Token token, boolean expandFirst) {
        int parameter = macro.parameters().indexOf(token.text());
        if (parameter < 0 || parameter >= arguments.size()) {
            return List.of(token);
        }
        return expandFirst ? expand(arguments.get(parameter)) : arguments.get(parameter);
    }

    private static Set<String> union(Set<String> a, Set<String> b) {
        Set<String> both = new HashSet<>(a);
        both.addAll(b);
        return Set.copyOf(both);
    }
}
