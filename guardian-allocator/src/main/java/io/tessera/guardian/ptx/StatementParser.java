package io.tessera.guardian.ptx;

import io.tessera.guardian.ptx.Lexer.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the bodies of functions. Not thread-safe. */
final class StatementParser {
    /** More than twice what PTX ISA 9.0 has. */
    private static final int MOST_MODIFIERS = 32;

    private final Tokens tokens;
    private final Scopes scopes;
    private final DeclarationParser declarations;
    private final OperandParser operands;
    private final LineParser lines;
    private final AttributeParser attributes;
    private final Modifiers.Tree none = new Modifiers.Tree();

    StatementParser(Tokens tokens, Scopes scopes, DeclarationParser declarations, OperandParser operands,
            LineParser lines, AttributeParser attributes) {
        this.tokens = tokens;
        this.scopes = scopes;
        this.declarations = declarations;
        this.operands = operands;
        this.lines = lines;
        this.attributes = attributes;
    }

    /** <code>{ ... }</code> in the scope that is open. */
    Block body() throws PtxException {
        int line = tokens.line();
        tokens.enter();
        tokens.expect('{');
        List<Statement> statements = new ArrayList<>();
        while (!tokens.accept('}')) {
            statement(statements);
        }
        tokens.leave();
        return new Block(statements, line);
    }

    private void statement(List<Statement> into) throws PtxException {
        if (tokens.kind() == Kind.NAME) {
            named(into);
        } else if (tokens.at('@')) {
            into.add(guarded());
        } else if (tokens.kind() == Kind.DOTTED) {
            directive(into);
        } else if (tokens.at('{')) {
            scopes.enter();
            into.add(body());
            scopes.leave();
        } else {
            throw tokens.error("expected a statement, found " + tokens.shown());
        }
    }

    private void named(List<Statement> into) throws PtxException {
        int line = tokens.line();
        int column = tokens.column();
        String name = tokens.name("an instruction");
        if (!tokens.at(':')) {
            into.add(instruction(Optional.empty(), name, line, column));
            return;
        }
        scopes.declare(name, Scopes.Kind.LABEL);
        tokens.advance();
        if (tokens.acceptDotted("callprototype")) {
            into.add(prototype(name, line));
        } else if (tokens.acceptDotted("branchtargets")) {
            into.add(targets(name, TargetList.Kind.BRANCH, line));
        } else if (tokens.acceptDotted("calltargets")) {
            into.add(targets(name, TargetList.Kind.CALL, line));
        } else {
            into.add(new Label(name, line));
        }
    }

    private Instruction guarded() throws PtxException {
        int line = tokens.line();
        tokens.expect('@');
        boolean negated = tokens.accept('!');
        Guard guard = new Guard(operands.predicate(), negated);
        int column = tokens.column();
        return instruction(Optional.of(guard), tokens.name("an instruction"), line, column);
    }

    private Instruction instruction(Optional<Guard> guard, String opcode, int line, int column) throws PtxException {
        String known = Opcodes.literal(opcode);
        if (known == null) {
            throw new PtxException(line, column, "unknown instruction '" + opcode + "'");
        }
        Modifiers.Tree modifiers = none;
        while (tokens.kind() == Kind.DOTTED) {
            if (modifiers.words().size() == MOST_MODIFIERS) {
                throw tokens.error("an instruction of more than " + MOST_MODIFIERS + " words after its opcode");
            }
            modifiers = modifiers.and(tokens.word());
            tokens.advance();
        }
        return new Instruction(guard, known, modifiers.words(), operands.operands(known.equals("call")), line);
    }

    private void directive(List<Statement> into) throws PtxException {
        int line = tokens.line();
        String word = tokens.word();
        if (DeclarationParser.isSpace(word)) {
            into.addAll(declarations.locals(Linkage.INTERNAL));
            return;
        }
        switch (word) {
            case "reg" -> {
                tokens.advance();
                into.add(declarations.registers(line));
            }
            case "loc" -> into.add(lines.location());
            case "pragma" -> into.add(lines.pragma());
            case "extern" -> {
                tokens.advance();
                into.addAll(declarations.locals(Linkage.EXTERN));
            }
            default -> throw tokens.error("unknown directive '." + word + "' in a function");
        }
    }

    private CallPrototype prototype(String name, int line) throws PtxException {
        scopes.enter();
        List<Variable> returns = tokens.at('(') ? declarations.parameters() : List.of();
        if (!tokens.name("'_'").equals("_")) {
            throw tokens.error("a prototype has '_' in place of a name");
        }
        List<Variable> parameters = declarations.parameters();
        scopes.leave();
        List<FunctionAttribute> found = attributes.attributes();
        tokens.expect(';');
        return new CallPrototype(name, returns, parameters, found, line);
    }

    private TargetList targets(String name, TargetList.Kind kind, int line) throws PtxException {
        List<String> targets = new ArrayList<>();
        do {
            int targetLine = tokens.line();
            int column = tokens.column();
            String target = tokens.name("a target");
            targets.add(target);
            scopes.use(target, targetLine, column);
        } while (tokens.accept(','));
        tokens.expect(';');
        return new TargetList(name, kind, targets, line);
    }
}
