package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Alias;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.PtxVersion;
import io.tessera.guardian.ptx.Variable;
import io.tessera.guardian.ptx.parse.Lexer.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads a PTX module and resolves its names as NVIDIA's assembler does. No name may be declared twice, every register must be declared, every other
 * name must belong to the function or the module, and every opcode must be one of PTX ISA 9.0. Types, modifiers and numbers of operands are left to
 * the code that runs or rewrites the instructions.
 *
 * <p>The tree needs no further name resolution. A function's body is flat: rows of registers, variables, then instructions; no block is nested. A
 * function's declarations have names that are its own in the module ({@code $v0} for variables and parameters, {@code $L0} for labels) or in the
 * function (registers: {@code %r0}, {@code %rd0}, by type), independent of the names in the program; only registers that are used are there. Vector
 * registers are scalars. Integer constants have the value that the instruction takes ({@link Literals}). Names of the module stay as they are.
 * Parsing text that was printed from a tree gives an equal tree.
 *
 * <p>Time and memory are linear in the length of the text. The entry points may be called from any thread.
 */
public final class PtxParser {
    /**
     * In text older than the directive .address_size, NVIDIA's assembler assumes addresses of the machine's size; in later text, the default is 32.
     */
    private static final PtxVersion FIRST_WITH_ADDRESS_SIZE = new PtxVersion(2, 3);
    private static final PtxVersion FIRST_WITH_OFFSETS_IN_INITIALIZERS = new PtxVersion(3, 1);

    private final Tokens tokens;
    private final Scopes scopes;
    private final InitializerParser initializers;
    private final DeclarationParser declarations;
    private final StatementParser statements;
    private final AttributeParser attributes;
    private final LineParser lines;
    private final List<Directive> directives = new ArrayList<>();

    private PtxParser(byte[] text) throws PtxException {
        tokens = new Tokens(text);
        scopes = new Scopes(tokens);
        ConstantExpression constants = new ConstantExpression(tokens);
        initializers = new InitializerParser(tokens, scopes, constants);
        declarations = new DeclarationParser(tokens, scopes, initializers);
        attributes = new AttributeParser(tokens);
        lines = new LineParser(tokens, constants);
        statements = new StatementParser(tokens, scopes, declarations, new OperandParser(tokens, scopes, constants),
                lines, attributes);
    }

    /**
     * Reads a module.
     *
     * @param text ASCII, with any bytes in comments and strings; ends at the first NUL, if there is one
     * @throws PtxException if the text is not PTX that this package knows
     */
    public static PtxModule parse(byte[] text) throws PtxException {
        return new PtxParser(text).module();
    }

    /**
     * Reads a module.
     *
     * @throws PtxException as {@link #parse(byte[])}
     */
    public static PtxModule parse(String text) throws PtxException {
        return parse(text.getBytes(StandardCharsets.UTF_8));
    }

    private PtxModule module() throws PtxException {
        if (!tokens.acceptDotted("version")) {
            throw tokens.error("a module starts with '.version', found " + tokens.shown());
        }
        PtxVersion version = version();
        if (version.compareTo(FIRST_WITH_OFFSETS_IN_INITIALIZERS) < 0) {
            initializers.takeNamesAsGeneric();
        }
        if (!tokens.acceptDotted("target")) {
            throw tokens.error("expected '.target', found " + tokens.shown());
        }
        List<String> targets = new ArrayList<>(2);
        do {
            targets.add(tokens.name("a target"));
        } while (tokens.accept(','));
        int addressBits = version.compareTo(FIRST_WITH_ADDRESS_SIZE) < 0 ? 64 : 32;
        if (tokens.acceptDotted("address_size")) {
            addressBits = (int) tokens.integer("an address size", 64);
            if (addressBits != 32 && addressBits != 64) {
                throw tokens.error("addresses have 32 or 64 bits, not " + addressBits);
            }
        }
        while (tokens.kind() != Kind.END) {
            directive();
        }
        scopes.leaveModule();
        return new PtxModule(version, targets, addressBits, directives);
    }

    private PtxVersion version() throws PtxException {
        String[] numbers = tokens.source().split("\\.", -1);
        boolean valid = tokens.kind() == Kind.FLOAT64 && numbers.length == 2 && numbers[0].matches("[0-9]{1,3}")
                && numbers[1].matches("[0-9]{1,3}");
        if (!valid) {
            throw tokens.error("expected a version such as 9.0, found " + tokens.shown());
        }
        tokens.advance();
        return new PtxVersion(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
    }

    private void directive() throws PtxException {
        if (tokens.kind() != Kind.DOTTED) {
            throw tokens.error("expected a directive, found " + tokens.shown());
        }
        int line = tokens.line();
        Linkage linkage = linkage();
        String word = tokens.kind() == Kind.DOTTED ? tokens.word() : "";
        if (DeclarationParser.isSpace(word)) {
            directives.addAll(declarations.globals(linkage));
        } else if (word.equals("func") || word.equals("entry")) {
            directives.add(function(linkage, line));
        } else if (linkage != Linkage.INTERNAL) {
            throw tokens.error("expected a function or variable, found " + tokens.shown());
        } else {
            other(word);
        }
    }

    private Linkage linkage() throws PtxException {
        for (Linkage linkage : Linkage.values()) {
            if (linkage != Linkage.INTERNAL && tokens.acceptDotted(linkage.ptx())) {
                return linkage;
            }
        }
        return Linkage.INTERNAL;
    }

    private void other(String word) throws PtxException {
        switch (word) {
            case "file" -> directives.add(lines.file());
            case "section" -> directives.add(lines.section());
            case "pragma" -> directives.add(lines.pragma());
            case "alias" -> directives.add(alias());
            default -> throw tokens.error("unknown directive '." + word + "'");
        }
    }

    private Alias alias() throws PtxException {
        int line = tokens.line();
        tokens.advance();
        String name = tokens.name("a function");
        tokens.expect(',');
        int targetLine = tokens.line();
        int column = tokens.column();
        String target = tokens.name("a function");
        scopes.useGlobal(target, targetLine, column);
        scopes.declareGlobal(name, true, true);
        tokens.expect(';');
        return new Alias(name, target, line);
    }

    private PtxFunction function(Linkage linkage, int line) throws PtxException {
        PtxFunction.Kind kind = tokens.atDotted("entry") ? PtxFunction.Kind.ENTRY : PtxFunction.Kind.FUNC;
        tokens.advance();
        scopes.enter();
        declarations.enterFunction();
        List<FunctionAttribute> found = new ArrayList<>(2);
        List<String> written = declarations.functionAttributes();
        if (!written.isEmpty()) {
            found.add(new FunctionAttribute(FunctionAttribute.ATTRIBUTE, List.of(), written));
        }
        List<Variable> returns = tokens.at('(') && kind == PtxFunction.Kind.FUNC ? declarations.parameters(kind)
                : List.of();
        String name = tokens.name("a function's name");
        List<Variable> parameters = declarations.parameters(kind);
        found.addAll(attributes.attributes());
        boolean defines = tokens.at('{');
        scopes.declareGlobal(name, true, defines);
        Optional<Block> body = Optional.empty();
        if (defines) {
            FunctionText text = new FunctionText(scopes);
            int bodyLine = tokens.line();
            statements.body(text);
            scopes.leave();
            body = Optional.of(text.finish(bodyLine));
            directives.addAll(text.globals());
        } else {
            attributes.endDeclaration();
            scopes.leave();
        }
        return new PtxFunction(kind, linkage, name, returns, parameters, found, body, line);
    }
}
