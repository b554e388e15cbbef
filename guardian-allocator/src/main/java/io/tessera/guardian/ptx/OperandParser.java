package io.tessera.guardian.ptx;

import io.tessera.guardian.ptx.Lexer.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads operands, and resolves their names. Not thread-safe. */
final class OperandParser {
    /** The one constant that PTX predefines (PTX ISA, "Predefined Constants"); 32 on every GPU so far. */
    private static final String WARP_SIZE = "WARP_SZ";
    private static final long WARP_THREADS = 32;
    private static final Operand SINK = new Operand.Sink();

    private final Tokens tokens;
    private final Scopes scopes;
    private final ConstantExpression constants;
    private final Map<String, Operand.Register> registers = new HashMap<>();

    OperandParser(Tokens tokens, Scopes scopes, ConstantExpression constants) {
        this.tokens = tokens;
        this.scopes = scopes;
        this.constants = constants;
    }

    /** Operands up to the semicolon, which is passed over. */
    List<Operand> operands(boolean call) throws PtxException {
        List<Operand> operands = new ArrayList<>(4);
        if (tokens.accept(';')) {
            return operands;
        }
        do {
            operands.add(call && tokens.at('(') ? arguments() : operand());
        } while (tokens.accept(','));
        tokens.expect(';');
        return operands;
    }

    /** The register of a guard. */
    Operand.Register predicate() throws PtxException {
        int line = tokens.line();
        int column = tokens.column();
        String name = tokens.name("a predicate register");
        if (scopes.find(name) != Scopes.Kind.REGISTER) {
            throw new PtxException(line, column, "'" + name + "' is not a register");
        }
        return register(name);
    }

    private Operand operand() throws PtxException {
        Operand first = single();
        boolean result = first instanceof Operand.Register || first instanceof Operand.Sink
                || first instanceof Operand.Vector;
        return result && tokens.accept('|') ? new Operand.Pair(first, single()) : first;
    }

    private Operand single() throws PtxException {
        if (tokens.kind() == Kind.NAME) {
            return named();
        }
        tokens.enter();
        Operand operand = switch (tokens.punctuation()) {
            case '[' -> address();
            case '{' -> {
                tokens.advance();
                yield new Operand.Vector(list('}'));
            }
            case '!', '-' -> signed();
            default -> constant();
        };
        tokens.leave();
        return operand;
    }

    private Operand constant() throws PtxException {
        if (!constants.here()) {
            throw tokens.error("expected an operand, found " + tokens.shown());
        }
        return constants.operand();
    }

    /** {@code !p}, {@code -c}, or a constant with such a sign. */
    private Operand signed() throws PtxException {
        boolean minus = tokens.at('-');
        tokens.advance();
        if (tokens.kind() == Kind.NAME) {
            return minus ? new Operand.Minus(named()) : new Operand.Not(named());
        }
        return constants.afterSign(minus ? '-' : '!');
    }

    private Operand.Arguments arguments() throws PtxException {
        tokens.expect('(');
        return new Operand.Arguments(list(')'));
    }

    private List<Operand> list(char end) throws PtxException {
        List<Operand> elements = new ArrayList<>(4);
        if (tokens.accept(end)) {
            return elements;
        }
        do {
            elements.add(operand());
        } while (tokens.accept(','));
        tokens.expect(end);
        return elements;
    }

    private Operand named() throws PtxException {
        int line = tokens.line();
        int column = tokens.column();
        String name = tokens.name("a name");
        if (name.equals("_")) {
            return SINK;
        }
        Scopes.Kind kind = scopes.find(name);
        if (kind == Scopes.Kind.REGISTER) {
            return tokens.kind() == Kind.DOTTED ? new Operand.Component(name, tokens.dotted("a component"))
                    : register(name);
        }
        if (kind == null && SpecialRegisters.contains(name)) {
            return special(name);
        }
        if (kind == null && name.equals(WARP_SIZE)) {
            return new Operand.Immediate(WARP_THREADS, false);
        }
        use(name, kind, line, column);
        return new Operand.Symbol(name, constants.offset());
    }

    private Operand special(String name) throws PtxException {
        String component = tokens.kind() == Kind.DOTTED ? tokens.word() : "";
        if (!component.isEmpty()) {
            boolean known = component.length() == 1 && "xyzw".contains(component);
            if (!known || !SpecialRegisters.isVector(name)) {
                throw tokens.error("'" + name + "' has no component '" + component + "'");
            }
            tokens.advance();
        }
        return new Operand.SpecialRegister(name, component);
    }

    private void use(String name, Scopes.Kind kind, int line, int column) throws PtxException {
        if (kind != null) {
            return;
        }
        if (name.charAt(0) == '%') {
            throw new PtxException(line, column, "register '" + name + "' is not declared");
        }
        scopes.use(name, line, column);
    }

    private Operand.Register register(String name) {
        return registers.computeIfAbsent(name, Operand.Register::new);
    }

    private Operand address() throws PtxException {
        tokens.expect('[');
        if (tokens.kind() != Kind.NAME) {
            Operand.Immediate absolute = constants.integer();
            tokens.expect(']');
            return new Operand.Address(absolute, 0);
        }
        Operand first = named();
        if (tokens.at(',')) {
            return compound(first);
        }
        Operand address = switch (first) {
            case Operand.Register register -> new Operand.Address(register, constants.offset());
            case Operand.Symbol symbol -> new Operand.Address(new Operand.Named(symbol.name()), symbol.offsetBytes());
            default -> throw tokens.error("an address starts with a register, a variable or a constant");
        };
        if (tokens.at(',')) {
            throw tokens.error("a handle has no offset");
        }
        tokens.expect(']');
        return address;
    }

    private Operand compound(Operand first) throws PtxException {
        List<Operand> parts = new ArrayList<>(3);
        parts.add(first);
        while (tokens.accept(',')) {
            parts.add(single());
        }
        tokens.expect(']');
        return new Operand.CompoundAddress(parts);
    }
}
