package io.tessera.autotalk.header;

import io.tessera.autotalk.input.InputException;

import java.util.ArrayList;
import java.util.List;

/**
 * The value of an {@code #if} expression or of an integer constant expression: integers, unary and binary operators,
 * parentheses, and for {@code #if} {@code defined}. Identifiers that are no macros count as 0, as in C11 6.10.1.
 */
final class PreprocessorCondition {
    /** Operators by rising precedence (C11 6.5.5 to 6.5.14). */
    private static final List<List<String>> LEVELS = List.of(List.of("||"), List.of("&&"), List.of("|"), List.of("^"),
            List.of("&"), List.of("==", "!="), List.of("<", ">", "<=", ">="), List.of("<<", ">>"), List.of("+", "-"),
            List.of("*", "/", "%"));

    private final List<Token> tokens;
    private final Token where;
    private int at;

    private PreprocessorCondition(List<Token> tokens, Token where) {
        this.tokens = tokens;
        this.where = where;
    }

    /** Returns whether an {@code #if} or {@code #elif} holds. */
    static boolean holds(List<Token> directive, MacroTable macros, Token where) {
        List<Token> resolved = new ArrayList<>();
        for (int i = 0; i < directive.size(); i++) {
            if (!directive.get(i).is("defined")) {
                resolved.add(directive.get(i));
                continue;
            }
            boolean parenthesised = i + 1 < directive.size() && directive.get(i + 1).is("(");
            int name = parenthesised ? i + 2 : i + 1;
            if (name >= directive.size()) {
                throw new InputException(where.file(), where.line(), "'defined' without a name");
            }
            Token token = directive.get(name);
            String value = macros.defined(token.text()) ? "1" : "0";
            resolved.add(Token.of(Token.Kind.NUMBER, value, token.file(), token.line()));
            i = parenthesised ? name + 1 : name;
        }
        return value(macros.expand(resolved), where) != 0;
    }

    /** Returns the value of a constant expression. */
    static long value(List<Token> expression, Token where) {
        PreprocessorCondition condition = new PreprocessorCondition(expression, where);
        long value = condition.binary(0);
        if (condition.at < expression.size()) {
            throw condition.error("unexpected '" + expression.get(condition.at).text() + "'");
        }
        return value;
    }

    private long binary(int level) {
        if (level == LEVELS.size()) {
            return unary();
        }
        long left = binary(level + 1);
        while (at < tokens.size() && LEVELS.get(level).contains(tokens.get(at).text())) {
            String operator = tokens.get(at++).text();
            left = apply(operator, left, binary(level + 1));
        }
        return left;
    }

    private long apply(String operator, long left, long right) {
        return switch (operator) {
            case "||" -> left != 0 || right != 0 ? 1 : 0;
            case "&&" -> left != 0 && right != 0 ? 1 : 0;
            case "|" -> left | right;
            case "^" -> left ^ right;
            case "&" -> left & right;
            case "==" -> left == right ? 1 : 0;
            case "!=" -> left != right ? 1 : 0;
            case "<" -> left < right ? 1 : 0;
            case ">" -> left > right ? 1 : 0;
            case "<=" -> left <= right ? 1 : 0;
            case ">=" -> left >= right ? 1 : 0;
            case "<<" -> left << right;
            case ">>" -> left >> right;
            case "+" -> left + right;
            case "-" -> left - right;
            case "*" -> left * right;
            case "/" -> left / nonZero(right);
            case "%" -> left % nonZero(right);
            default -> throw error("operator '" + operator + "' is not supported");
        };
    }

    private long nonZero(long divisor) {
        if (divisor == 0) {
            throw error("division by zero");
        }
        return divisor;
    }

    private long unary() {
        if (at >= tokens.size()) {
            throw error("expression ends too early");
        }
        Token token = tokens.get(at++);
        if (token.kind() == Token.Kind.NUMBER) {
            return number(token);
        }
        if (token.identifier()) {
            return 0;
        }
        return switch (token.text()) {
            case "!" -> unary() == 0 ? 1 : 0;
            case "-" -> -unary();
            case "+" -> unary();
            case "~" -> ~unary();
            case "(" -> parenthesised();
            default -> throw error("unexpected '" + token.text() + "'");
        };
    }

    private long parenthesised() {
        long value = binary(0);
        if (at >= tokens.size() || !tokens.get(at++).is(")")) {
            throw error("')' is missing");
        }
        return value;
    }

    private long number(Token token) {
        String digits = token.text().replaceAll("[uUlL]+$", "");
        try {
            return Long.decode(digits);
        } catch (NumberFormatException e) {
            throw error("'" + token.text() + "' is not an integer");
        }
    }

    private InputException error(String problem) {
        return new InputException(where.file(), where.line(), problem);
    }
}
