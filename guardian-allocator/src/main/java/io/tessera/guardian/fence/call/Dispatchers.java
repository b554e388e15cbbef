package io.tessera.guardian.fence.call;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.fence.text.Sites;
import io.tessera.guardian.fence.variable.ArenaWriter;
import io.tessera.guardian.fence.variable.LocalArena;
import io.tessera.guardian.fence.variable.ModuleSymbols;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.CallPrototype;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Functions that make indirect calls. A dispatcher compares the function pointer with the numbers of the module's functions of that signature, and
 * calls the matching function. Therefore no code addresses exist that could be forged. Not thread-safe.
 */
public final class Dispatchers {
    private static final String TARGET = WindowConstants.PREFIX + "target";
    private static final int WIDEST_BYTES = 8;

    /**
     * One dispatcher.
     *
     * @param name      its name
     * @param returns   of the signature
     * @param parameters of the signature
     * @param line      of the first call
     */
    private record Dispatcher(String name, List<Variable> returns, List<Variable> parameters, int line) {
    }

    private final ModuleSymbols symbols;
    private final Map<String, Dispatcher> dispatchers = new LinkedHashMap<>();

    /** Creates the dispatchers of one module, initially none. */
    public Dispatchers(ModuleSymbols symbols) {
        this.symbols = symbols;
    }

    /** Name of the function to call for an indirect call; its first parameter is what is called. */
    public String name(List<Variable> returns, List<Variable> parameters, int line) {
        return dispatchers.computeIfAbsent(signature(returns, parameters), s -> new Dispatcher(
                WindowConstants.PREFIX + "dispatch_" + dispatchers.size(), returns, parameters, line)).name();
    }

    /** As above, for a prototype. */
    public String name(CallPrototype prototype, int line) {
        return name(prototype.returns(), prototype.parameters(), line);
    }

    /** Functions that an indirect call may reach, by their signature. */
    private Map<String, List<PtxFunction>> targets() {
        return symbols.addressTaken().stream().collect(Collectors.groupingBy(f -> signature(f.returns(), f.parameters())));
    }

    private static String signature(List<Variable> returns, List<Variable> parameters) {
        StringBuilder text = new StringBuilder();
        for (List<Variable> list : List.of(returns, parameters)) {
            for (Variable variable : list) {
                text.append(variable.dimensions().isEmpty() ? variable.type().bits() + " "
                        : variable.sizeBytes() + "@" + variable.alignment() + " ");
            }
            text.append("/");
        }
        return text.toString();
    }

    /** Their declarations, to stand before what calls them. */
    public List<PtxFunction> declarations(boolean arena) {
        return dispatchers.values().stream().map(d -> function(d, arena, Optional.empty())).toList();
    }

    /** Returns the callees of each dispatcher. */
    public Map<String, List<String>> calls() {
        Map<String, List<String>> calls = new LinkedHashMap<>();
        Map<String, List<PtxFunction>> targets = targets();
        dispatchers.forEach((signature, dispatcher) -> calls.put(dispatcher.name(),
                targets.getOrDefault(signature, List.of()).stream().map(PtxFunction::name).toList()));
        return calls;
    }

    /** Names in the order of {@link #declarations()}. */
    public List<String> names() {
        return dispatchers.values().stream().map(Dispatcher::name).toList();
    }

    private static PtxFunction function(Dispatcher dispatcher, boolean arena, Optional<Block> body) {
        List<Variable> parameters = new ArrayList<>();
        parameters.add(parameter(TARGET, scalar(ScalarType.B64)));
        int n = 0;
        for (Variable parameter : dispatcher.parameters()) {
            parameters.add(parameter(TARGET + "_p" + n++, parameter));
        }
        if (arena) {
            parameters.add(arena());
        }
        List<Variable> returns = new ArrayList<>();
        for (Variable result : dispatcher.returns()) {
            returns.add(parameter(TARGET + "_r" + returns.size(), result));
        }
        return new PtxFunction(PtxFunction.Kind.FUNC, Linkage.INTERNAL, dispatcher.name(), returns, parameters, List.of(),
                body, 0);
    }

    /** The parameter that every function gets where the address of the {@link LocalArena} is passed on. */
    public static Variable arena() {
        return parameter(ArenaWriter.NAME, scalar(ScalarType.B64));
    }

    private static Variable scalar(ScalarType type) {
        return new Variable(Linkage.INTERNAL, StateSpace.PARAM, 0, type, 1, TARGET, List.of(), Optional.empty(),
                Optional.empty(), List.of(), 0);
    }

    private static Variable parameter(String name, Variable like) {
        return new Variable(Linkage.INTERNAL, StateSpace.PARAM, like.alignmentBytes(), like.type(), like.vectorLength(),
                name, like.dimensions(), Optional.empty(), Optional.empty(), List.of(), 0);
    }

    /**
     * Returns the definitions of the dispatchers.
     *
     * @param arena whether functions of the module have {@link #arena()} as their last parameter
     * @param number   number of the first dispatcher in {@link FencedModule#functions()}
     */
    public List<PtxFunction> definitions(int number, int module, boolean arena) {
        List<PtxFunction> found = new ArrayList<>();
        Map<String, List<PtxFunction>> targets = targets();
        for (Map.Entry<String, Dispatcher> entry : dispatchers.entrySet()) {
            Dispatcher dispatcher = entry.getValue();
            PtxFunction head = function(dispatcher, arena, Optional.empty());
            Code code = new Code();
            Sites sites = new Sites(code, number + found.size(), module);
            write(code, sites, targets.getOrDefault(entry.getKey(), List.of()), dispatcher.line(), head);
            List<Statement> body = new ArrayList<>();
            List<Statement> written = code.leave(new ArrayList<>());
            body.addAll(code.declarations());
            written.stream().filter(Variable.class::isInstance).forEach(body::add);
            written.stream().filter(statement -> !(statement instanceof Variable)).forEach(body::add);
            found.add(function(dispatcher, arena, Optional.of(new Block(body, 0))));
        }
        return found;
    }

    private void write(Code code, Sites sites, List<PtxFunction> targets, int line, PtxFunction head) {
        Operand.Register target = code.wide();
        code.emit("ld.param.b64", target, Code.at(new Operand.Named(TARGET), 0));
        int number = 0;
        for (PtxFunction callee : targets) {
            Operand.Register other = code.truth();
            String next = code.newLabel("next");
            code.emit("setp.ne.u64", other, target, Code.number(token(callee)));
            code.branch(other, false, next);
            call(code, head, callee, "_" + number++);
            code.emit("ret");
            code.label(next);
        }
        code.emit("bra", new Operand.Symbol(sites.site(ReportArea.Kind.CALL_TARGET, line, target), 0));
        sites.write();
    }

    private long token(PtxFunction callee) {
        try {
            return symbols.token(callee.name());
        } catch (FenceRefusedException e) {
            throw new IllegalStateException("a number that was given before", e);
        }
    }

    private void call(Code code, PtxFunction head, PtxFunction callee, String suffix) {
        List<Variable> parameters = head.parameters().subList(1, head.parameters().size());
        List<List<Operand.Register>> values = new ArrayList<>();
        for (Variable parameter : parameters) {
            values.add(load(code, parameter.name(), parameter));
        }
        List<Operand> arguments = new ArrayList<>();
        for (int i = 0; i < parameters.size(); i++) {
            if (parameters.get(i).name().equals(ArenaWriter.NAME)) {
                arguments.add(values.get(i).getFirst()); // In a register, as all callers pass it.
                continue;
            }
            Variable local = parameter(parameters.get(i).name() + suffix, parameters.get(i));
            code.add(local);
            store(code, local.name(), local, values.get(i));
            arguments.add(new Operand.Symbol(local.name(), 0));
        }
        List<Operand> operands = new ArrayList<>();
        List<Operand> results = new ArrayList<>();
        for (Variable result : head.returns()) {
            Variable local = parameter(result.name() + suffix, result);
            code.add(local);
            results.add(new Operand.Symbol(local.name(), 0));
        }
        if (!results.isEmpty()) {
            operands.add(new Operand.Arguments(results));
        }
        operands.add(new Operand.Symbol(callee.name(), 0));
        if (!arguments.isEmpty()) {
            operands.add(new Operand.Arguments(arguments));
        }
        code.emit("call", operands.toArray(Operand[]::new));
        List<List<Operand.Register>> returned = new ArrayList<>();
        for (Variable result : head.returns()) {
            returned.add(load(code, result.name() + suffix, result));
        }
        for (int i = 0; i < returned.size(); i++) {
            store(code, head.returns().get(i).name(), head.returns().get(i), returned.get(i));
        }
    }

    /** Pieces of a parameter: offset and bytes of each. */
    private static List<long[]> pieces(Variable parameter) {
        List<long[]> pieces = new ArrayList<>();
        long size = parameter.sizeBytes();
        long widest = parameter.dimensions().isEmpty() ? parameter.type().bytes()
                : Math.min(parameter.alignment(), WIDEST_BYTES);
        for (long at = 0; at < size; at += widest) {
            while (widest > 1 && at + widest > size) {
                widest /= 2;
            }
            pieces.add(new long[] {at, widest});
        }
        return pieces;
    }

    private static List<Operand.Register> load(Code code, String name, Variable parameter) {
        List<Operand.Register> registers = new ArrayList<>();
        for (long[] piece : pieces(parameter)) {
            Operand.Register register = piece[1] == WIDEST_BYTES ? code.wide() : code.word();
            code.emit("ld.param.b" + 8 * piece[1], register, Code.at(new Operand.Named(name), piece[0]));
            registers.add(register);
        }
        return registers;
    }

    private static void store(Code code, String name, Variable parameter, List<Operand.Register> registers) {
        List<long[]> pieces = pieces(parameter);
        for (int i = 0; i < pieces.size(); i++) {
            code.emit("st.param.b" + 8 * pieces.get(i)[1], Code.at(new Operand.Named(name), pieces.get(i)[0]),
                    registers.get(i));
        }
    }
}
