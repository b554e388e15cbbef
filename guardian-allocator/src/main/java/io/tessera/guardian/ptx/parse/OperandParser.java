package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.parse.Lexer.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads operands, and resolves their names. Not thread-safe. */
final class OperandParser {
    /** The only constant that PTX predefines (PTX ISA, "Predefined Constants"); 32 on every GPU so far. */
    private static final String WARP_SIZE = "WARP_SZ";
    private static final long WARP_THREADS = 32;
    private static final Operand SINK = new Operand.Sink();

    private final Tokens tokens;
    private final Scopes scopes;
    private final ConstantExpression constants;
    private final List<Sum> sums = new ArrayList<>(0);
    private boolean open;
    /** Type of the register that was read last. */
    private ScalarType type;

    /** {@code register+1} as an operand, which is written as an addition before the instruction. */
    record Sum(Operand.Register result, Operand.Register register, ScalarType type, long addend) {
        Instruction instruction(int line) {
            return new Instruction(Optional.empty(), "add", List.of("s" + type.bits()),
                    List.of(result, register, new Operand.Immediate(addend << 64 - type.bits() >> 64 - type.bits(), false)), line);
        }
    }

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

    /** Returns whether an operand since the last call has a name that is not yet known. */
    boolean takeOpen() {
        boolean found = open;
        open = false;
        return found;
    }

    /** Sums that the operands since the last call are made of. */
    List<Sum> takeSums() {
        if (sums.isEmpty()) {
            return List.of();
        }
        List<Sum> found = List.copyOf(sums);
        sums.clear();
        return found;
    }

    /** The register of a guard. */
    Operand.Register predicate() throws PtxException {
        int line = tokens.line();
        int column = tokens.column();
        String name = tokens.name("a predicate register");
        Declared declared = scopes.find(name);
        if (declared == null || declared.kind() != Declared.Kind.REGISTER || declared.isVector()) {
            throw new PtxException(line, column, "'" + name + "' is not a register");
        }
        return declared.lane(0, scopes.registers());
    }

    private Operand operand() throws PtxException {
        Operand first = single();
        boolean result = first instanceof Operand.Register || first instanceof Operand.Sink
                || first instanceof Operand.Vector;
        return result && tokens.accept('|') ? new Operand.Pair(first, single()) : first;
    }

    private Operand single() throws PtxException {
        if (tokens.kind() == Kind.NAME) {
            return sum(named());
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
            Operand element = operand();
            // A vector register among arguments, or in a vector, is its lanes.
            if (element instanceof Operand.Vector(List<Operand> lanes)) {
                elements.addAll(lanes);
            } else {
                elements.add(element);
            }
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
        Declared declared = scopes.find(name);
        if (declared != null && declared.kind() == Declared.Kind.REGISTER) {
            return register(name, declared);
        }
        if (declared == null && SpecialRegisters.contains(name)) {
            return special(name);
        }
        if (declared == null && name.equals(WARP_SIZE)) {
            return new Operand.Immediate(WARP_THREADS, false);
        }
        return new Operand.Symbol(declared == null ? label(name, line, column) : declared.name(), constants.offset());
    }

    private Operand register(String name, Declared declared) throws PtxException {
        type = declared.type();
        if (tokens.kind() != Kind.DOTTED) {
            return declared.isVector() ? declared.vector(scopes.registers()) : declared.lane(0, scopes.registers());
        }
        String component = tokens.dotted("a component");
        if (!declared.isVector() && isSelector(component)) {
            return new Operand.Component(declared.lane(0, scopes.registers()).name(), component);
        }
        int lane = component.length() == 1 ? "xyzwrgba".indexOf(component) % 4 : -1;
        if (!declared.isVector() || lane < 0 || lane >= declared.lanes()) {
            throw tokens.error("'" + name + "' has no component '" + component + "'");
        }
        return declared.lane(lane, scopes.registers());
    }

    /** Bytes or halves that a video instruction selects of a register. */
    private static boolean isSelector(String component) {
        boolean selector = component.length() > 1 && (component.charAt(0) == 'b' || component.charAt(0) == 'h');
        for (int i = 1; i < component.length(); i++) {
            selector &= component.charAt(i) >= '0' && component.charAt(i) <= '7';
        }
        return selector;
    }

    /** A name that no register or variable of the function has: a label, or one of the module. */
    String label(String name, int line, int column) {
        Declared declared = scopes.find(name);
        if (declared != null || scopes.isGlobal(name)) {
            return declared == null ? name : declared.name();
        }
        open = true;
        return scopes.refer(name, line, column);
    }

    /** A register to which a constant is added, or the operand itself. */
    private Operand sum(Operand operand) throws PtxException {
        if (!(operand instanceof Operand.Register register) || !tokens.at('+') && !tokens.at('-')) {
            return operand;
        }
        boolean integer = type.kind() != ScalarType.Kind.FLOAT
                && (type.bits() == Short.SIZE || type.bits() == Integer.SIZE || type.bits() == Long.SIZE);
        if (!integer) {
            throw tokens.error("a constant is added to integer registers only");
        }
        Operand.Register result = scopes.registers().next(type);
        sums.add(new Sum(result, register, type, constants.offset()));
        return result;
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
