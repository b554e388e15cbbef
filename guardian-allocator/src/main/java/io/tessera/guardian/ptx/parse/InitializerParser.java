package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.parse.Lexer.Kind;
import java.util.ArrayList;
import java.util.List;

/** Reads what variables hold at first. Not thread-safe. */
final class InitializerParser {
    /** Most initialisers are bytes of tables, so their values are shared. */
    private static final Initializer[] BYTES = bytes();

    private final Tokens tokens;
    private final Scopes scopes;
    private final ConstantExpression constants;
    private boolean implicitlyGeneric;

    InitializerParser(Tokens tokens, Scopes scopes, ConstantExpression constants) {
        this.tokens = tokens;
        this.scopes = scopes;
        this.constants = constants;
    }

    /** From now on, names mean generic addresses, as they do before PTX ISA 3.1 ("Initializers"). */
    void takeNamesAsGeneric() {
        implicitlyGeneric = true;
    }

    private static Initializer[] bytes() {
        Initializer[] bytes = new Initializer[256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = new Initializer.Integer(i);
        }
        return bytes;
    }

    Operand.Immediate integer() throws PtxException {
        return constants.integer();
    }

    /** Reads the value after the equals sign. */
    Initializer value() throws PtxException {
        if (tokens.at('{')) {
            return aggregate();
        }
        if (tokens.kind() == Kind.NAME) {
            return named();
        }
        if (!constants.here()) {
            throw tokens.error("expected a value, found " + tokens.shown());
        }
        return switch (constants.operand()) {
            case Operand.Float32 value -> new Initializer.Float32(value.bits());
            case Operand.Float64 value -> new Initializer.Float64(value.bits());
            case Operand.Immediate value when tokens.at('(') -> masked(value.value());
            case Operand.Immediate value -> integer(value.value());
            default -> throw tokens.error("expected a value");
        };
    }

    private static Initializer integer(long value) {
        return value >= 0 && value < BYTES.length ? BYTES[(int) value] : new Initializer.Integer(value);
    }

    private Initializer aggregate() throws PtxException {
        tokens.enter();
        tokens.expect('{');
        List<Initializer> elements = new ArrayList<>();
        if (!tokens.at('}')) {
            do {
                elements.add(value());
            } while (tokens.accept(','));
        }
        tokens.expect('}');
        tokens.leave();
        return new Initializer.Aggregate(elements);
    }

    private Initializer named() throws PtxException {
        int line = tokens.line();
        int column = tokens.column();
        String name = tokens.name("a name");
        if (tokens.accept('=')) {
            return field(name);
        }
        if (name.equals("generic") && tokens.at('(')) {
            return inParentheses(true, 0);
        }
        Declared declared = scopes.find(name);
        if (declared != null && declared.kind() != Declared.Kind.VARIABLE) {
            throw new PtxException(line, column, "'" + name + "' is no variable");
        }
        if (declared == null) {
            scopes.useGlobal(name, line, column);
        }
        return new Initializer.AddressOf(declared == null ? name : declared.name(), constants.offset(), implicitlyGeneric, 0);
    }

    private Initializer field(String name) throws PtxException {
        String value = tokens.source();
        if (tokens.kind() != Kind.NAME && tokens.kind() != Kind.INTEGER) {
            throw tokens.error("expected the value of '" + name + "', found " + tokens.shown());
        }
        tokens.advance();
        return new Initializer.Field(name, value);
    }

    private Initializer masked(long mask) throws PtxException {
        if (mask == 0) {
            throw tokens.error("a mask of an address is not 0");
        }
        return inParentheses(false, mask);
    }

    /** {@code (name+8)}, or {@code (generic(name)+8)} behind a mask. */
    private Initializer inParentheses(boolean generic, long mask) throws PtxException {
        tokens.enter();
        tokens.expect('(');
        Initializer inner = named();
        if (!(inner instanceof Initializer.AddressOf address)) {
            throw tokens.error("expected a variable's name in parentheses");
        }
        tokens.expect(')');
        tokens.leave();
        return new Initializer.AddressOf(address.symbol(), address.offsetBytes() + constants.offset(),
                generic || address.generic(), mask);
    }
}
