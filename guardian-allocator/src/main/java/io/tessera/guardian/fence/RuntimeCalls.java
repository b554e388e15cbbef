package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The calls of a module's functions to what the driver provides: {@code vprintf}, whose two pointers are made anew, from a
 * private copy of the format and the function's own frame; {@code __assertfail}, which becomes a record. Not thread-safe.
 */
final class RuntimeCalls {
    private static final String[] ASSERT_PARTS = {"message", "file", "line", "function"};

    /** What is passed instead of what a store passes: the address of that variable, plus an offset; or null pointers. */
    record Passed(String variable, boolean local, long offset) {
    }

    private final ModuleSymbols symbols;
    private final Map<Instruction, Passed> passed = new IdentityHashMap<>();
    private final Map<Instruction, Integer> asserts = new IdentityHashMap<>();
    private final Map<Instruction, Boolean> dropped = new IdentityHashMap<>();
    private final List<Variable> formats = new ArrayList<>();
    private final List<String> texts = new ArrayList<>();

    RuntimeCalls(ModuleSymbols symbols) {
        this.symbols = symbols;
    }

    /** Formats that have to be added to the module. */
    List<Variable> formats() {
        return formats;
    }

    /** Texts of assertions. */
    List<String> texts() {
        return texts;
    }

    /** What a store passes instead, or null. */
    Passed passed(Instruction store) {
        return passed.get(store);
    }

    /** Number of the text of an assertion, or null. */
    Integer assertion(Instruction call) {
        return asserts.get(call);
    }

    /** Whether a store is left out with its call. */
    boolean drops(Instruction store) {
        return dropped.containsKey(store);
    }

    /** Finds the calls of a function. */
    void scan(PtxFunction function, SymbolTrace trace) throws FenceRefusedException {
        RegisterScopes scopes = new RegisterScopes();
        scan(function.body().orElseThrow(), function, trace, scopes);
    }

    private void scan(Block block, PtxFunction function, SymbolTrace trace, RegisterScopes scopes)
            throws FenceRefusedException {
        scopes.enter(block);
        List<Statement> statements = block.statements();
        for (int i = 0; i < statements.size(); i++) {
            if (statements.get(i) instanceof Block inner) {
                scan(inner, function, trace, scopes);
            } else if (statements.get(i) instanceof Instruction call && call.opcode().equals("call")) {
                CallSite site = CallSite.of(call);
                PtxFunction target = site.function() == null ? null : symbols.function(site.function());
                if (target != null && target.body().isEmpty()) {
                    runtime(call, site, statements.subList(0, i), trace, scopes);
                }
            }
        }
        scopes.leave();
    }

    private void runtime(Instruction call, CallSite site, List<Statement> before, SymbolTrace trace,
            RegisterScopes scopes) throws FenceRefusedException {
        if (site.function().equals("vprintf") && site.arguments().size() == 2) {
            print(call, stores(call, site, before), trace, scopes);
        } else if (site.function().equals("__assertfail") && site.arguments().size() >= ASSERT_PARTS.length) {
            assertion(call, stores(call, site, before), trace);
        }
    }

    /** The instructions that write the arguments, one each. */
    private static List<Instruction> stores(Instruction call, CallSite site, List<Statement> before)
            throws FenceRefusedException {
        List<Instruction> found = new ArrayList<>();
        for (Operand argument : site.arguments()) {
            Instruction store = null;
            for (int i = before.size() - 1; i >= 0 && store == null; i--) {
                store = before.get(i) instanceof Instruction candidate && argument instanceof Operand.Symbol(String name, long _)
                        && candidate.opcode().equals("st") && candidate.has("param") && candidate.guard().isEmpty()
                        && candidate.operands().getFirst().equals(new Operand.Address(new Operand.Named(name), 0))
                        ? candidate : null;
            }
            if (store == null) {
                throw new FenceRefusedException("call " + site.function(), call.line(), "its arguments are not understood");
            }
            found.add(store);
        }
        return found;
    }

    private void print(Instruction call, List<Instruction> stores, SymbolTrace trace, RegisterScopes scopes)
            throws FenceRefusedException {
        String format = text(stores.get(0).operands().get(1), trace);
        if (format == null) {
            throw new FenceRefusedException("call vprintf", call.line(), "its format is no constant text");
        }
        long bytes = PrintFormat.argumentBytes(format);
        if (bytes < 0) {
            throw new FenceRefusedException("call vprintf", call.line(), "the format \"" + format.strip()
                    + "\" follows a pointer or is not understood");
        }
        passed.put(stores.get(0), new Passed(copy(format), false, 0));
        passed.put(stores.get(1), bytes == 0 ? new Passed(null, true, 0)
                : frame(call, stores.get(1).operands().get(1), bytes, trace, scopes));
    }

    private static Passed frame(Instruction call, Operand pointer, long bytes, SymbolTrace trace, RegisterScopes scopes)
            throws FenceRefusedException {
        SymbolTrace.Root root = pointer instanceof Operand.Register register ? trace.root(register) : null;
        Variable variable = root == null ? null : scopes.variable(root.symbol());
        boolean inside = variable != null && variable.space() == StateSpace.LOCAL && root.exact()
                && root.offsetBytes() >= 0 && root.offsetBytes() + bytes <= variable.sizeBytes();
        if (!inside) {
            throw new FenceRefusedException("call vprintf", call.line(), "its " + bytes
                    + " bytes of arguments are not known to lie in the function's own frame");
        }
        return new Passed(root.symbol(), true, root.offsetBytes());
    }

    private String copy(String format) {
        byte[] bytes = format.getBytes(StandardCharsets.ISO_8859_1);
        List<Initializer> values = new ArrayList<>();
        for (byte value : bytes) {
            values.add(new Initializer.Integer(value & 0xFF));
        }
        values.add(new Initializer.Integer(0));
        String name = WindowConstants.PREFIX + "format_" + formats.size();
        formats.add(new Variable(Linkage.INTERNAL, StateSpace.GLOBAL, 1, ScalarType.B8, 1, name,
                List.of(bytes.length + 1L), Optional.of(new Initializer.Aggregate(values)),
                Optional.empty(), List.of(), 0));
        return name;
    }

    /** The text that a pointer leads to, or null. */
    private String text(Operand pointer, SymbolTrace trace) throws FenceRefusedException {
        SymbolTrace.Root root = pointer instanceof Operand.Register register ? trace.root(register) : null;
        Variable variable = root == null || !root.exact() ? null : symbols.variable(root.symbol());
        if (variable == null || variable.type().bytes() != 1 || variable.initializer().isEmpty()) {
            return null;
        }
        InitialBytes initial = new InitialBytes(variable, symbols);
        initial.fill();
        byte[] bytes = initial.bytes();
        int start = (int) Math.max(0, Math.min(root.offsetBytes(), bytes.length));
        int end = start;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return root.offsetBytes() != start || !initial.relocations().isEmpty() ? null
                : new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
    }

    private void assertion(Instruction call, List<Instruction> stores, SymbolTrace trace) throws FenceRefusedException {
        String[] parts = new String[ASSERT_PARTS.length];
        for (int i = 0; i < parts.length; i++) {
            Operand value = stores.get(i).operands().get(1);
            Long number = trace.constant(value);
            String text = i == 2 ? number == null ? null : number.toString() : text(value, trace);
            parts[i] = text == null ? "?" : text;
        }
        stores.forEach(store -> dropped.put(store, true));
        asserts.put(call, texts.size());
        texts.add(parts[1] + ":" + parts[2] + ": " + parts[3] + ": " + parts[0]);
    }
}
