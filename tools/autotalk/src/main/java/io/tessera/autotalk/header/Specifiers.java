package io.tessera.autotalk.header;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads declaration specifiers: qualifiers, basic types, typedef names, and the bodies of structures and enumerations.
 * Uses the scope of the parser that created it. Not thread-safe.
 */
final class Specifiers {
    private static final Set<String> STORAGE = Set.of("extern", "static", "inline", "__inline__", "__inline",
            "__extension__", "register", "_Noreturn");
    private static final Set<String> QUALIFIERS = Set.of("volatile", "restrict", "__restrict", "__restrict__");
    private static final Set<String> ATTRIBUTES = Set.of("__attribute__", "__declspec");
    private static final Set<String> BASIC_WORDS = Set.of("void", "char", "short", "int", "long", "float", "double",
            "signed", "unsigned", "_Bool");

    /** Specifiers as read: the type, and the alignment that {@code _Alignas} asks for, 0 for none. */
    record Read(CType type, int alignment) {
    }

    /** Parts of specifiers that the parser reads. */
    interface Declarators {
        /** Reads a declarator; a missing name is returned as empty. */
        CType.Variable declarator(TokenCursor cursor, CType base);

        /** The value of a constant expression. */
        long constant(List<Token> expression, Token where);
    }

    private final Declarators parser;
    private final Map<String, CType> typedefs;
    private final Map<String, CType> tags;

    Specifiers(Declarators parser, Map<String, CType> typedefs, Map<String, CType> tags) {
        this.parser = parser;
        this.typedefs = typedefs;
        this.tags = tags;
    }

    /** Returns whether a type begins here. */
    boolean startsType(Token token) {
        return token.is("const") || token.is("struct") || token.is("union") || token.is("enum")
                || BASIC_WORDS.contains(token.text()) || QUALIFIERS.contains(token.text())
                || token.identifier() && typedefs.containsKey(token.text());
    }

    Read read(TokenCursor cursor) {
        CType base = null;
        boolean constant = false;
        int alignment = 0;
        List<String> words = new ArrayList<>();
        while (true) {
            Token token = cursor.peek();
            if (token.is("const")) {
                cursor.next();
                constant = true;
            } else if (STORAGE.contains(token.text()) || QUALIFIERS.contains(token.text())) {
                cursor.next();
            } else if (ATTRIBUTES.contains(token.text())) {
                cursor.next();
                cursor.bracketed("(", ")");
            } else if (token.is("_Alignas") || token.is("alignas")) {
                cursor.next();
                alignment = (int) parser.constant(cursor.bracketed("(", ")"), token);
            } else if (BASIC_WORDS.contains(token.text())) {
                words.add(cursor.next().text());
            } else if (base == null && words.isEmpty() && (token.is("struct") || token.is("union"))) {
                base = aggregate(cursor);
            } else if (base == null && words.isEmpty() && token.is("enum")) {
                base = enumeration(cursor);
            } else if (base == null && words.isEmpty() && token.identifier() && typedefs.containsKey(token.text())) {
                base = typedefs.get(cursor.next().text());
            } else {
                break;
            }
        }
        if (!words.isEmpty()) {
            base = basic(words, cursor);
        }
        if (base == null) {
            throw cursor.error("unknown type '" + cursor.peek().text() + "'");
        }
        return new Read(constant ? new CType.Const(base) : base, alignment);
    }

    private static CType basic(List<String> words, TokenCursor cursor) {
        boolean unsigned = words.contains("unsigned");
        int longs = Collections.frequency(words, "long");
        if (words.contains("void")) {
            return new CType.Basic("void", 0, false, false);
        }
        if (words.contains("float")) {
            return new CType.Basic("float", 4, true, true);
        }
        if (words.contains("double") && longs == 0) {
            return new CType.Basic("double", 8, true, true);
        }
        if (words.contains("double")) {
            throw cursor.error("long double is not supported");
        }
        if (words.contains("_Bool")) {
            return new CType.Basic("_Bool", 1, false, false);
        }
        if (words.contains("char")) {
            boolean plain = !unsigned && !words.contains("signed");
            return new CType.Basic(plain ? "char" : unsigned ? "unsigned char" : "signed char", 1, false, !unsigned);
        }
        String prefix = unsigned ? "unsigned " : "";
        if (words.contains("short")) {
            return new CType.Basic(prefix + "short", 2, false, !unsigned);
        }
        return switch (longs) {
            case 0 -> new CType.Basic(prefix + "int", 4, false, !unsigned);
            case 1 -> new CType.Basic(prefix + "long", 8, false, !unsigned);
            default -> new CType.Basic(prefix + "long long", 8, false, !unsigned);
        };
    }

    private CType aggregate(TokenCursor cursor) {
        Token keyword = cursor.next();
        skipAttributes(cursor);
        String tag = cursor.peek().identifier() ? cursor.next().text() : "";
        CType known = tag.isEmpty() ? null : tags.get(tag);
        CType.Aggregate aggregate = known instanceof CType.Aggregate earlier ? earlier
                : new CType.Aggregate(tag, keyword.is("union"));
        if (!tag.isEmpty()) {
            tags.put(tag, aggregate);
        }
        if (cursor.peek().is("{")) {
            aggregate.complete(members(new TokenCursor(cursor.bracketed("{", "}"))));
        }
        return aggregate;
    }

    private List<CType.Variable> members(TokenCursor body) {
        List<CType.Variable> members = new ArrayList<>();
        while (!body.atEnd()) {
            if (body.accept(";")) {
                continue;
            }
            Read base = read(body);
            if (body.accept(";")) {
                members.add(new CType.Variable("", base.type(), base.alignment()));
                continue;
            }
            do {
                CType.Variable member = parser.declarator(body, base.type());
                if (body.peek().is(":")) {
                    throw body.error("bit-fields are not supported");
                }
                members.add(new CType.Variable(member.name(), member.type(), base.alignment()));
            } while (body.accept(","));
            body.expect(";");
        }
        return members;
    }

    private CType enumeration(TokenCursor cursor) {
        cursor.next();
        skipAttributes(cursor);
        String tag = cursor.peek().identifier() ? cursor.next().text() : "";
        if (cursor.peek().is("{")) {
            cursor.bracketed("{", "}");
        }
        return new CType.Enumeration(tag);
    }

    private static void skipAttributes(TokenCursor cursor) {
        while (ATTRIBUTES.contains(cursor.peek().text())) {
            cursor.next();
            cursor.bracketed("(", ")");
        }
    }
}
