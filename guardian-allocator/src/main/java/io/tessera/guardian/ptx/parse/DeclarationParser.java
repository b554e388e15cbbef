package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import io.tessera.guardian.ptx.parse.Lexer.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Reads declarations of variables, parameters and registers. Not thread-safe. */
final class DeclarationParser {
    /** Maximum number of variables that all {@code name<count>} of a module may declare: register rows are not expanded, but these are. */
    private static final long MOST_EXPANDED = 1 << 16;
    private static final int HIGHEST_ALIGNMENT = 1 << 20;
    /** A parameter that cannot be named. */
    private static final String NAMELESS = "_";

    private final Tokens tokens;
    private final Scopes scopes;
    private final InitializerParser initializers;
    private final SizeLimits sizes;
    private final VariableSpaces spaces = new VariableSpaces();
    private long expanded;

    DeclarationParser(Tokens tokens, Scopes scopes, InitializerParser initializers) {
        this.tokens = tokens;
        this.sizes = new SizeLimits(tokens);
        this.scopes = scopes;
        this.initializers = initializers;
    }

    /** Declares a name and returns its name in the tree. */
    private interface Naming {
        String declare(String name) throws PtxException;
    }

    /** Checks the size of what a name declares. */
    private interface Check {
        void size(Variable variable, String name) throws PtxException;
    }

    /** The words between a state space and a name. */
    private static final class Head {
        private final int line;
        private final StateSpace space;
        private int alignment;
        private int vectorLength = 1;
        private ScalarType type;
        private Optional<Variable.Pointer> pointer = Optional.empty();
        private final List<String> attributes = new ArrayList<>(0);

        private Head(int line, StateSpace space) {
            this.line = line;
            this.space = space;
        }
    }

    /** Returns whether a word starts a declaration of variables. */
    static boolean isSpace(String word) {
        return switch (word) {
            case "const", "global", "local", "param", "shared", "tex" -> true;
            default -> false;
        };
    }

    /** Variables of the module, from their space to the semicolon. */
    List<Variable> globals(Linkage linkage) throws PtxException {
        boolean defines = linkage != Linkage.EXTERN && linkage != Linkage.COMMON;
        return variables(linkage, name -> {
            scopes.declareGlobal(name, false, defines);
            return name;
        }, sizes::module);
    }

    /** Variables of a block, from their space to the semicolon. */
    List<Variable> locals() throws PtxException {
        boolean global = tokens.atDotted("global") || tokens.atDotted("const");
        return global ? variables(Linkage.INTERNAL, scopes::declareInnerGlobal, sizes::module)
                : variables(Linkage.INTERNAL, scopes::declareVariable, sizes::function);
    }

    /** The spaces of all variables that have been declared. */
    VariableSpaces spaces() {
        return spaces;
    }

    /** Begins a function. */
    void enterFunction() {
        sizes.enterFunction();
    }

    /** {@code (.param .u64 a, .param .b8 b[16])} of a kernel or function; empty where no parenthesis stands. */
    List<Variable> parameters(PtxFunction.Kind kind) throws PtxException {
        return parameters(true, kind == PtxFunction.Kind.ENTRY ? sizes::entry : sizes::function);
    }

    /** As above, for a prototype, whose names have no meaning. */
    List<Variable> prototypeParameters() throws PtxException {
        return parameters(false, sizes::function);
    }

    private List<Variable> parameters(boolean named, Check check) throws PtxException {
        List<Variable> parameters = new ArrayList<>(4);
        if (!tokens.accept('(') || tokens.accept(')')) {
            return parameters;
        }
        do {
            Head head = head();
            String name = tokens.name("a parameter's name");
            boolean counts = named && !name.equals(NAMELESS);
            if (head.space == StateSpace.REG) {
                List<Operand.Register> lanes = counts ? scopes.declareArgument(name, head.type, head.vectorLength)
                        : Collections.nCopies(head.vectorLength, new Operand.Register(NAMELESS));
                head.vectorLength = 1;
                for (Operand.Register lane : lanes) {
                    parameters.add(variable(Linkage.INTERNAL, head, lane.name(), List.of(), Optional.empty()));
                }
            } else {
                String given = counts ? scopes.declareVariable(name) : NAMELESS;
                Variable parameter = variable(Linkage.INTERNAL, head, given, dimensions(), Optional.empty());
                check.size(parameter, name);
                parameters.add(parameter);
            }
        } while (tokens.accept(','));
        tokens.expect(')');
        return parameters;
    }

    /** {@code .reg .b32 %r<4>, x;}, the first word of which has been passed over. */
    void registers() throws PtxException {
        int lanes = 1;
        while (tokens.atDotted("v2") || tokens.atDotted("v4") || tokens.atDotted("v8")) {
            lanes = tokens.dotted("a vector").charAt(1) - '0';
        }
        ScalarType type = type();
        do {
            String name = tokens.name("a register's name");
            if (tokens.accept('<')) {
                int count = (int) tokens.integer("a number of registers", Integer.MAX_VALUE);
                scopes.declareRow(name, type, lanes, count);
                tokens.expect('>');
            } else {
                scopes.declareRegister(name, type, lanes);
            }
        } while (tokens.accept(','));
        tokens.expect(';');
    }

    private List<Variable> variables(Linkage linkage, Naming naming, Check check) throws PtxException {
        Head head = head();
        List<Variable> variables = new ArrayList<>(1);
        do {
            String name = tokens.name("a variable's name");
            if (tokens.accept('<')) {
                long count = tokens.integer("a number of variables", MOST_EXPANDED - expanded);
                expanded += count;
                tokens.expect('>');
                for (long i = 0; i < count; i++) {
                    Variable variable = variable(linkage, head, naming.declare(name + i), List.of(), Optional.empty());
                    check.size(variable, name);
                    spaces.declare(variable);
                    variables.add(variable);
                }
                continue;
            }
            String given = naming.declare(name);
            List<Long> dimensions = dimensions();
            Optional<Initializer> initializer = tokens.accept('=') ? Optional.of(initializers.value())
                    : Optional.empty();
            Variable variable = variable(linkage, head, given, sized(dimensions, initializer), initializer);
            check.size(variable, name);
            spaces.declare(variable);
            variables.add(variable);
        } while (tokens.accept(','));
        tokens.expect(';');
        return variables;
    }

    private static Variable variable(Linkage linkage, Head head, String name, List<Long> dimensions,
            Optional<Initializer> initializer) {
        return new Variable(linkage, head.space, head.alignment, head.type, head.vectorLength, name, dimensions,
                initializer, head.pointer, head.attributes, head.line);
    }

    /** An array whose first length is left open is as long as what it holds at first. */
    private static List<Long> sized(List<Long> dimensions, Optional<Initializer> initializer) {
        boolean open = !dimensions.isEmpty() && dimensions.getFirst() == Variable.UNSIZED;
        if (!open || !(initializer.orElse(null) instanceof Initializer.Aggregate(List<Initializer> elements))) {
            return dimensions;
        }
        List<Long> sized = new ArrayList<>(dimensions);
        sized.set(0, (long) elements.size());
        return sized;
    }

    private Head head() throws PtxException {
        int line = tokens.line();
        if (tokens.kind() != Kind.DOTTED || StateSpace.of(tokens.word()) == null) {
            throw tokens.error("expected a state space, found " + tokens.shown());
        }
        Head head = new Head(line, StateSpace.of(tokens.word()));
        tokens.advance();
        while (tokens.kind() == Kind.DOTTED) {
            switch (tokens.word()) {
                case "align" -> head.alignment = alignment();
                case "v2", "v4", "v8" -> head.vectorLength = tokens.dotted("a vector").charAt(1) - '0';
                case "ptr" -> head.pointer = Optional.of(pointer());
                case "attribute" -> attributes(head.attributes);
                default -> {
                    if (head.type != null) {
                        throw tokens.error("expected a name, found " + tokens.shown());
                    }
                    head.type = type();
                }
            }
        }
        if (head.type == null) {
            throw tokens.error("expected a type, found " + tokens.shown());
        }
        return head;
    }

    private ScalarType type() throws PtxException {
        ScalarType type = tokens.kind() == Kind.DOTTED ? ScalarType.of(tokens.word()) : null;
        if (type == null) {
            throw tokens.error("expected a type, found " + tokens.shown());
        }
        tokens.advance();
        return type;
    }

    private int alignment() throws PtxException {
        tokens.advance();
        int alignment = (int) tokens.integer("an alignment", HIGHEST_ALIGNMENT);
        if (Integer.bitCount(alignment) != 1) {
            throw tokens.error("an alignment is a power of two, not " + alignment);
        }
        return alignment;
    }

    private Variable.Pointer pointer() throws PtxException {
        tokens.advance();
        StateSpace space = tokens.kind() == Kind.DOTTED ? StateSpace.of(tokens.word()) : null;
        if (space != null) {
            tokens.advance();
        }
        return new Variable.Pointer(Optional.ofNullable(space), tokens.atDotted("align") ? alignment() : 0);
    }

    /** {@code .attribute(.managed, .unified(1, 2))}. */
    private void attributes(List<String> into) throws PtxException {
        tokens.advance();
        tokens.expect('(');
        do {
            StringBuilder attribute = new StringBuilder(tokens.dotted("an attribute"));
            if (tokens.accept('(')) {
                attribute.append('(').append(number());
                while (tokens.accept(',')) {
                    attribute.append(", ").append(number());
                }
                attribute.append(')');
                tokens.expect(')');
            }
            into.add(attribute.toString());
        } while (tokens.accept(','));
        tokens.expect(')');
    }

    /** A number of an attribute, as written. */
    private String number() throws PtxException {
        String source = tokens.source();
        if (tokens.kind() != Kind.INTEGER) {
            throw tokens.error("expected a number, found " + tokens.shown());
        }
        tokens.advance();
        return source;
    }

    /** The attributes of a function, if any stand here. */
    List<String> functionAttributes() throws PtxException {
        List<String> attributes = new ArrayList<>(0);
        if (tokens.atDotted("attribute")) {
            attributes(attributes);
        }
        return attributes;
    }

    private List<Long> dimensions() throws PtxException {
        if (!tokens.at('[')) {
            return List.of();
        }
        List<Long> dimensions = new ArrayList<>(1);
        while (tokens.accept('[')) {
            if (tokens.accept(']')) {
                dimensions.add(Variable.UNSIZED);
                continue;
            }
            Operand.Immediate length = initializers.integer();
            if (length.value() < 0) {
                throw tokens.error("an array has no negative length");
            }
            dimensions.add(length.value());
            tokens.expect(']');
        }
        return dimensions;
    }
}
