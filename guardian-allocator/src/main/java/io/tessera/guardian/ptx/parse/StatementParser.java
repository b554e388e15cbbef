package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.CallPrototype;
import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Modifiers;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.TargetList;
import io.tessera.guardian.ptx.Variable;
import io.tessera.guardian.ptx.parse.Lexer.Kind;
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
    void body(FunctionText into) throws PtxException {
        tokens.enter();
        tokens.expect('{');
        while (!tokens.accept('}')) {
            statement(into);
        }
        tokens.leave();
    }

    private void statement(FunctionText into) throws PtxException {
        if (tokens.kind() == Kind.NAME) {
            named(into);
        } else if (tokens.at('@')) {
            guarded(into);
        } else if (tokens.kind() == Kind.DOTTED) {
            directive(into);
        } else if (tokens.at('{')) {
            scopes.enter();
            body(into);
            scopes.leave();
        } else {
            throw tokens.error("expected a statement, found " + tokens.shown());
        }
    }

    private void named(FunctionText into) throws PtxException {
        int line = tokens.line();
        int column = tokens.column();
        String name = tokens.name("an instruction");
        if (!tokens.at(':')) {
            instruction(Optional.empty(), name, line, column, into);
            return;
        }
        String label = scopes.declareLabel(name);
        tokens.advance();
        if (tokens.acceptDotted("callprototype")) {
            into.add(prototype(label, line));
        } else if (tokens.acceptDotted("branchtargets")) {
            into.addOpen(targets(label, TargetList.Kind.BRANCH, line));
        } else if (tokens.acceptDotted("calltargets")) {
            into.addOpen(targets(label, TargetList.Kind.CALL, line));
        } else {
            into.add(new Label(label, line));
        }
    }

    private void guarded(FunctionText into) throws PtxException {
        int line = tokens.line();
        tokens.expect('@');
        boolean negated = tokens.accept('!');
        Guard guard = new Guard(operands.predicate(), negated);
        int column = tokens.column();
        instruction(Optional.of(guard), tokens.name("an instruction"), line, column, into);
    }

    private void instruction(Optional<Guard> guard, String opcode, int line, int column, FunctionText into)
            throws PtxException {
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
        List<Operand> list = operands.operands(known.equals("call"));
        for (OperandParser.Sum sum : operands.takeSums()) {
            into.add(sum.instruction(line));
        }
        List<String> words = declarations.spaces().named(known, modifiers.words(), list);
        Instruction instruction = new Instruction(guard, known, words, Literals.taken(known, modifiers.words(), list), line);
        if (known.equals("mov") && instruction.vectorLength() > 1) {
            vectorMove(instruction, into);
        } else if (operands.takeOpen()) {
            into.addOpen(instruction);
        } else {
            into.add(instruction);
        }
    }

    /** {@code mov.v2 to, from}: a move of each lane; all of them read before any writes. */
    private void vectorMove(Instruction i, FunctionText into) throws PtxException {
        ScalarType type = i.type().orElse(null);
        boolean lanes = type != null && i.operands().size() == 2
                && i.operands().stream().allMatch(operand -> operand instanceof Operand.Vector(List<Operand> elements)
                        && elements.size() == i.vectorLength());
        if (!lanes || operands.takeOpen()) {
            throw tokens.error("a move of vectors has a vector of " + i.vectorLength() + " registers on both sides");
        }
        List<Operand> to = ((Operand.Vector) i.operands().getFirst()).elements();
        List<Operand> from = ((Operand.Vector) i.operands().getLast()).elements();
        boolean overlaps = to.stream().anyMatch(from::contains);
        List<Operand> read = new ArrayList<>(from);
        for (int lane = 0; overlaps && lane < from.size(); lane++) {
            read.set(lane, scopes.registers().next(type));
            into.add(move(i, type, read.get(lane), from.get(lane)));
        }
        for (int lane = 0; lane < to.size(); lane++) {
            into.add(move(i, type, to.get(lane), read.get(lane)));
        }
    }

    private static Instruction move(Instruction i, ScalarType type, Operand to, Operand from) {
        return new Instruction(i.guard(), i.opcode(), List.of(type.ptx()), List.of(to, from), i.line());
    }

    private void directive(FunctionText into) throws PtxException {
        String word = tokens.word();
        if (DeclarationParser.isSpace(word)) {
            declarations.locals().forEach(into::declare);
            return;
        }
        switch (word) {
            case "reg" -> {
                tokens.advance();
                declarations.registers();
            }
            case "loc" -> into.add(lines.location());
            case "pragma" -> into.add(lines.pragma());
            default -> throw tokens.error("unknown directive '." + word + "' in a function");
        }
    }

    private CallPrototype prototype(String name, int line) throws PtxException {
        List<Variable> returns = tokens.at('(') ? declarations.prototypeParameters() : List.of();
        if (!tokens.name("'_'").equals("_")) {
            throw tokens.error("a prototype has '_' in place of a name");
        }
        List<Variable> parameters = declarations.prototypeParameters();
        List<FunctionAttribute> found = attributes.attributes();
        tokens.expect(';');
        return new CallPrototype(name, returns, parameters, found, line);
    }

    private TargetList targets(String name, TargetList.Kind kind, int line) throws PtxException {
        List<String> targets = new ArrayList<>();
        do {
            int targetLine = tokens.line();
            int column = tokens.column();
            targets.add(operands.label(tokens.name("a target"), targetLine, column));
        } while (tokens.accept(','));
        tokens.expect(';');
        return new TargetList(name, kind, targets, line);
    }
}
