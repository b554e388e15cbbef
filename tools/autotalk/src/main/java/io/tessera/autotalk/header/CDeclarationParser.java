package io.tessera.autotalk.header;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Parses the declarations of preprocessed headers: typedefs, structures, enumerations and function prototypes.
 * Functions with a body (inline wrappers of the header itself) are skipped, because they are not exported. Not thread-safe.
 */
final class CDeclarationParser implements Specifiers.Declarators {
    private final Map<String, CType> typedefs = KnownTypes.table();
    private final Map<String, CType> tags = new HashMap<>();
    private final Specifiers specifiers = new Specifiers(this, typedefs, tags);
    private final List<Prototype> prototypes = new ArrayList<>();

    /** Parses everything and returns the prototypes in the order of the headers. */
    List<Prototype> parse(List<Token> tokens) {
        TokenCursor cursor = new TokenCursor(tokens);
        while (!cursor.atEnd()) {
            if (!cursor.accept(";")) {
                declaration(cursor);
            }
        }
        return List.copyOf(prototypes);
    }

    private void declaration(TokenCursor cursor) {
        boolean typedef = cursor.accept("typedef");
        CType base = specifiers.read(cursor).type();
        if (cursor.accept(";")) {
            return;
        }
        do {
            Token where = cursor.peek();
            Token[] name = {where};
            CType.Variable declared = declarator(cursor, base, name);
            if (typedef) {
                typedefs.put(declared.name(), new CType.Alias(declared.name(), declared.type()));
            } else if (declared.type() instanceof CType.Function function) {
                if (cursor.peek().is("{")) {
                    cursor.bracketed("{", "}");
                    return;
                }
                prototypes.add(new Prototype(name[0], function.returns(), function.parameters()));
            }
        } while (cursor.accept(","));
        cursor.expect(";");
    }

    @Override
    public CType.Variable declarator(TokenCursor cursor, CType base) {
        return declarator(cursor, base, new Token[1]);
    }

    private CType.Variable declarator(TokenCursor cursor, CType base, Token[] name) {
        CType type = base;
        while (cursor.accept("*")) {
            type = new CType.Pointer(type);
            boolean constant = false;
            while (cursor.peek().is("const") || cursor.peek().is("restrict") || cursor.peek().is("volatile")) {
                constant |= cursor.next().is("const");
            }
            type = constant ? new CType.Const(type) : type;
        }
        if (cursor.peek().is("(") && cursor.peek(1).is("*")) {
            TokenCursor inner = new TokenCursor(cursor.bracketed("(", ")"));
            return declarator(inner, suffixes(cursor, type), name);
        }
        String text = "";
        if (cursor.peek().identifier()) {
            name[0] = cursor.next();
            text = name[0].text();
        }
        return new CType.Variable(text, suffixes(cursor, type), 0);
    }

    private CType suffixes(TokenCursor cursor, CType base) {
        if (cursor.peek().is("(")) {
            return new CType.Function(base, parameters(new TokenCursor(cursor.bracketed("(", ")"))));
        }
        List<Long> dimensions = new ArrayList<>();
        while (cursor.peek().is("[")) {
            Token where = cursor.peek();
            List<Token> expression = cursor.bracketed("[", "]");
            dimensions.add(expression.isEmpty() ? 0L : constant(expression, where));
        }
        CType type = base;
        for (int i = dimensions.size() - 1; i >= 0; i--) {
            type = new CType.Array(type, dimensions.get(i));
        }
        return type;
    }

    private List<CType.Variable> parameters(TokenCursor list) {
        List<CType.Variable> parameters = new ArrayList<>();
        if (list.atEnd() || list.peek().is("void") && list.peek(1).kind() == Token.Kind.END) {
            return parameters;
        }
        do {
            if (list.peek().is("...")) {
                throw list.error("variable argument lists are not supported");
            }
            CType base = specifiers.read(list).type();
            CType.Variable parameter = declarator(list, base);
            CType type = parameter.type() instanceof CType.Array array ? new CType.Pointer(array.of())
                    : parameter.type() instanceof CType.Function ? new CType.Pointer(parameter.type())
                    : parameter.type();
            String name = parameter.name().isEmpty() ? "p" + parameters.size() : parameter.name();
            parameters.add(new CType.Variable(name, type, 0));
        } while (list.accept(","));
        if (!list.atEnd()) {
            throw list.error("unexpected '" + list.peek().text() + "' in a parameter list");
        }
        return parameters;
    }

    /** Returns the value of an array size or alignment, which may contain {@code sizeof}. */
    @Override
    public long constant(List<Token> expression, Token where) {
        List<Token> resolved = new ArrayList<>();
        TokenCursor cursor = new TokenCursor(expression);
        while (!cursor.atEnd()) {
            Token token = cursor.next();
            if (token.is("sizeof")) {
                TokenCursor type = new TokenCursor(cursor.bracketed("(", ")"));
                CType measured = declarator(type, specifiers.read(type).type()).type();
                resolved.add(Token.of(Token.Kind.NUMBER, Long.toString(DataLayout.size(measured)), token.file(),
                        token.line()));
            } else {
                resolved.add(token);
            }
        }
        return PreprocessorCondition.value(resolved, where);
    }
}
