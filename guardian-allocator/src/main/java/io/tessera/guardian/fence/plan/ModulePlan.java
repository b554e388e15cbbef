package io.tessera.guardian.fence.plan;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.barrier.AsyncBarriers;
import io.tessera.guardian.fence.barrier.BarrierUse;
import io.tessera.guardian.fence.call.Dispatchers;
import io.tessera.guardian.fence.call.EscapeScan;
import io.tessera.guardian.fence.call.RuntimeCalls;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.instruction.Access.Place;
import io.tessera.guardian.fence.instruction.InstructionClass;
import io.tessera.guardian.fence.instruction.InstructionTable;
import io.tessera.guardian.fence.loop.LoopText;
import io.tessera.guardian.fence.loop.Loops;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.AddressOracle;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.fence.proof.graph.AnalysedModule;
import io.tessera.guardian.fence.text.FunctionNames;
import io.tessera.guardian.fence.variable.LocalArena;
import io.tessera.guardian.fence.variable.ModuleSymbols;
import io.tessera.guardian.fence.variable.SymbolTrace;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.CallPrototype;
import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;

/** Decisions about a module before its functions are rewritten. Not thread-safe. */
public final class ModulePlan {
    /** Blocks have memory of the system at the start of their shared memory from here on. */
    private static final int RESERVING_SM = 90;
    /** Opcodes that name a cluster's shared memory without access to it; so does {@code cvta.to}. */
    private static final Set<String> NO_ACCESS = Set.of("mapa", "getctarank", "isspacep", "fence");
    /** Name of the workspace of cooperative launches, as a hoisted variable. */
    public static final String WORKSPACE = WindowConstants.PREFIX + "workspace";

    private final PtxModule module;
    private final FenceMode mode;
    private final int id;
    private final ModuleSymbols symbols;
    private final RuntimeCalls runtime;
    private final Dispatchers dispatchers;
    private final AddressOracle oracle;
    private final boolean linked;
    private final PlainFunctions plain;
    private final int sm;
    private final Map<String, FenceRefusedException> refused = new LinkedHashMap<>();
    private final Map<PtxFunction, AddressFacts> facts = new IdentityHashMap<>();
    private final Map<PtxFunction, FunctionNames> names = new IdentityHashMap<>();
    private final Map<PtxFunction, SymbolTrace> traces = new IdentityHashMap<>();
    private final Map<Block, Contents> contents = new IdentityHashMap<>();
    private final Map<Block, LoopText> loops = new IdentityHashMap<>();
    private final Map<PtxFunction, Loops> watched = new IdentityHashMap<>();
    private final Map<Instruction, InstructionClass> classes = new IdentityHashMap<>();
    private final BarrierUse barriers;
    private boolean workspace;
    private boolean openLocal;
    private boolean clusters;
    private boolean shared;
    private boolean sharedEscapes;
    private boolean localEscapes;
    private final Set<String> escapingParameters = new HashSet<>();
    private boolean clusterEscapes;
    private boolean keepsBlocks;
    private boolean readsConstants;
    private boolean makesGeneric;
    private LocalArena arena;

    /** Contents of a body: local variables; prototypes and lists of targets. */
    private record Contents(List<Variable> locals, Map<String, Statement> lists) {
    }

    /**
     * Makes the decisions for the whole module.
     *
     * @param sm architecture of the GPU that it runs on, for example 90; 0 for the target of its text
     */
    public ModulePlan(PtxModule module, FenceMode mode, AddressOracle oracle, boolean linked, PlainFunctions plain, int sm)
            throws FenceRefusedException {
        this.module = module;
        this.mode = mode;
        this.oracle = oracle;
        this.linked = linked;
        this.plain = plain;
        this.sm = sm;
        this.symbols = new ModuleSymbols(module);
        this.id = symbols.fingerprint();
        this.runtime = new RuntimeCalls(symbols);
        this.dispatchers = new Dispatchers(symbols);
        AnalysedModule analysed = new AnalysedModule(module);
        for (PtxFunction function : module.functions()) {
            if (function.body().isPresent()) {
                try {
                    prepare(function, analysed);
                } catch (FenceRefusedException e) {
                    refuse(function, e);
                }
            }
        }
        this.barriers = new BarrierUse(module.functions(), symbols::function, classes, mode != FenceMode.NONE && !linked);
        constants();
        escapes();
    }

    private void prepare(PtxFunction function, AnalysedModule analysed) throws FenceRefusedException {
        Block body = function.body().orElseThrow();
        if (linked && function.attribute("blocksareclusters").isPresent()) {
            throw new FenceRefusedException(function.name(), function.line(),
                    "its grids count clusters, which functions of other modules do not know of");
        }
        clusters |= function.attributes().stream().anyMatch(a -> a.name().contains("cluster"));
        if (!contents.containsKey(body)) {
            List<Variable> found = new ArrayList<>();
            Map<String, Statement> lists = new HashMap<>();
            scan(body, found, lists);
            contents.put(body, new Contents(found, lists));
        }
        names.put(function, new FunctionNames(function));
        traces.put(function, new SymbolTrace(body));
        runtime.scan(function, trace(function), names(function));
        facts.put(function, oracle.of(function, analysed));
        watched.put(function, new Loops(loops(function), facts(function), proves(function), mode == FenceMode.NONE));
        facts(function).divide(watched.get(function)::partRounds);
        openLocal |= (function.kind() == PtxFunction.Kind.FUNC || contents.get(body).locals().size() > 1)
                && anyAccess(body, (i, access) -> isOpenLocal(function, i, access));
    }

    /** Records that a function is refused. If the refusal is of the whole module, it is rethrown. */
    public void refuse(PtxFunction function, FenceRefusedException refusal) throws FenceRefusedException {
        if (refusal.isWhole()) {
            throw refusal;
        }
        refused.putIfAbsent(function.name(), refusal);
        symbols.refuse(function.name());
        facts.remove(function);
    }

    /** Functions that are refused, and why. */
    public Map<String, FenceRefusedException> refused() {
        return refused;
    }

    private void scan(Block block, List<Variable> local, Map<String, Statement> lists) throws FenceRefusedException {
        for (Statement statement : block.statements()) {
            switch (statement) {
                case Variable variable when variable.space() == StateSpace.LOCAL -> local.add(variable);
                case TargetList list -> lists.put(list.name(), list);
                case CallPrototype prototype -> lists.put(prototype.name(), prototype);
                case Instruction instruction -> classify(instruction);
                default -> {}
            }
        }
    }

    private void classify(Instruction instruction) throws FenceRefusedException {
        InstructionClass what = classes.get(instruction);
        if (what == null) {
            what = InstructionTable.of(instruction);
            classes.put(instruction, what);
            note(instruction, what);
        }
        if (what instanceof InstructionClass.Refused(String reason, boolean known)) {
            throw new FenceRefusedException(instruction.mnemonic(), instruction.line(), reason, !known);
        }
        if (linked && mode != FenceMode.NONE && isClusterBarrier(instruction)) {
            throw new FenceRefusedException(instruction.mnemonic(), instruction.line(),
                    "in a module that is linked, whose other modules do not know of it");
        }
        String barrier = mode == FenceMode.NONE ? null : AsyncBarriers.refusal(instruction, what);
        if (barrier != null) {
            throw new FenceRefusedException(instruction.mnemonic(), instruction.line(), barrier);
        }
    }

    /** Returns whether an instruction may access another block's shared memory, or makes a generic address that may be in it. */
    public static boolean reachesBlocks(Instruction i) {
        return i.has("shared::cluster") && !NO_ACCESS.contains(i.opcode()) && !(i.opcode().equals("cvta") && i.has("to"));
    }

    private static boolean isClusterBarrier(Instruction i) {
        return i.opcode().equals("barrier") && i.has("cluster");
    }

    /** Records properties of the module that follow from an instruction. */
    private void note(Instruction instruction, InstructionClass what) {
        shared |= mayTouchShared(what);
        readsConstants |= what instanceof InstructionClass.Memory(List<Access> accesses)
                && accesses.stream().anyMatch(access -> access.place() == Place.CONST);
        if (instruction.opcode().equals("cvta") && !instruction.has("to")) {
            makesGeneric = true;
            readsConstants |= instruction.has("const");
        }
        if (instruction.opcode().equals("mapa") && !instruction.has("shared::cluster")) {
            clusterEscapes = true;
        }
        keepsBlocks |= clusterEscapes || isClusterBarrier(instruction)
                || instruction.has("shared::cluster") && !NO_ACCESS.contains(instruction.opcode())
                        && !(instruction.opcode().equals("cvta") && instruction.has("to"));
        clusters |= instruction.has("shared::cluster") || instruction.has("cluster") || instruction.opcode().equals("mapa");
    }

    /** Returns whether an instruction may use a block's shared memory, as far as its form shows. */
    private static boolean mayTouchShared(InstructionClass what) {
        return switch (what) {
            case InstructionClass.Pure _,InstructionClass.Control _,InstructionClass.Dropped _,InstructionClass.Warp _,InstructionClass.Handle _ ->
                false;
            case InstructionClass.Memory(List<Access> accesses) -> accesses.stream().anyMatch(access -> switch (access.place()) {
                case GLOBAL, LOCAL, CONST, PARAM -> false;
                case SHARED, CLUSTER, GENERIC, GENERIC_SHARED -> true;
            });
            default -> true;
        };
    }

    /** Constants move where an access to them cannot be kept inside its variable, or where their generic address is used. */
    private void constants() {
        long bytes = WindowConstants.BYTES;
        boolean generic = false;
        for (Variable variable : symbols.variables()) {
            bytes += variable.space() == StateSpace.CONST ? variable.sizeBytes() + variable.alignment() : Long.BYTES;
            generic |= variable.initializer().map(this::holdsGenericConstant).orElse(false);
        }
        boolean open = generic || bytes > ModuleSymbols.CONSTANT_BYTES;
        for (PtxFunction function : readsConstants ? facts.keySet() : Set.<PtxFunction>of()) {
            open |= anyGenericConstant(function.body().orElseThrow()) || anyAccess(function.body().orElseThrow(),
                    (i, access) -> isOpenConstant(function, i, access));
        }
        if (open && symbols.variables().stream().anyMatch(v -> v.space() == StateSpace.CONST)) {
            symbols.moveConstants();
        }
    }

    private boolean holdsGenericConstant(Initializer initializer) {
        return switch (initializer) {
            case Initializer.AddressOf address -> symbols.variable(address.symbol()) instanceof Variable variable
                    && variable.space() == StateSpace.CONST;
            case Initializer.Aggregate(List<Initializer> elements) -> elements.stream().anyMatch(this::holdsGenericConstant);
            default -> false;
        };
    }

    /** Returns whether a block has an access with a register as its base for which a condition holds. */
    private boolean anyAccess(Block block, BiPredicate<Instruction, Access> condition) {
        for (Statement statement : block.statements()) {
            boolean found = switch (statement) {
                case Instruction instruction -> classes.get(instruction) instanceof InstructionClass.Memory(List<Access> list)
                        && list.stream().anyMatch(
                                access -> instruction.operands().get(access.operand()) instanceof Operand.Address(Operand.Register _, long _)
                                        && condition.test(instruction, access));
                default -> false;
            };
            if (found) {
                return true;
            }
        }
        return false;
    }

    private boolean anyGenericConstant(Block block) {
        return block.statements().stream().anyMatch(statement -> switch (statement) {
            case Instruction i -> i.opcode().equals("cvta") && i.has("const") && !i.has("to");
            default -> false;
        });
    }

    private boolean isOpenConstant(PtxFunction function, Instruction instruction, Access access) {
        return access.place() == Place.CONST && !(origin(function, instruction, access) instanceof Variable variable
                && variable.space() == StateSpace.CONST);
    }

    private boolean isOpenLocal(PtxFunction function, Instruction instruction, Access access) {
        return access.place() == Place.LOCAL && symbol(function, instruction, access) == null;
    }

    /** The variable of the module that an access most likely is to, or null. */
    private Variable origin(PtxFunction function, Instruction instruction, Access access) {
        String symbol = symbol(function, instruction, access);
        return symbol == null ? null : symbols.variable(symbol);
    }

    private String symbol(PtxFunction function, Instruction instruction, Access access) {
        if (facts(function).of(instruction, access.operand()).placement() instanceof Placement.NearSymbol near) {
            return near.symbol();
        }
        SymbolTrace.Root root = instruction.operands().get(access.operand()) instanceof Operand.Address address
                && address.base() instanceof Operand.Register base ? trace(function).root(base) : null;
        return root == null ? null : root.symbol();
    }

    private void escapes() {
        for (Map.Entry<PtxFunction, AddressFacts> entry : makesGeneric ? facts.entrySet() : Set.<Map.Entry<PtxFunction, AddressFacts>>of()) {
            EscapeScan scan = new EscapeScan(entry.getKey().body().orElseThrow(), entry.getValue(), runtime);
            sharedEscapes |= scan.escapes(StateSpace.SHARED);
            localEscapes |= scan.escapes(StateSpace.LOCAL);
            if (scan.escapes(StateSpace.PARAM)) {
                escapingParameters.add(entry.getKey().name());
            }
        }
        sharedEscapes |= linked;
        localEscapes |= linked;
        arena = localEscapes || openLocal ? new LocalArena(module, !linked) : null;
    }

    /** Records that a function uses the workspace of its cooperative launch. */
    public void useWorkspace() {
        workspace = true;
    }

    /** Returns whether a function uses that workspace. */
    public boolean usesWorkspace() {
        return workspace;
    }

    /** The module that is fenced. */
    public PtxModule module() {
        return module;
    }

    /** Returns the mode that keeps its global accesses inside the window. */
    public FenceMode mode() {
        return mode;
    }

    /** A fingerprint of the module, by which records of what its fences stopped name it. */
    public int id() {
        return id;
    }

    /** Returns whether a function is fenced with proofs: loops that count to a bound are known to end, and constant masks are known. */
    public boolean proves(PtxFunction function) {
        return !plain.contains(function.name());
    }

    /**
     * Name of the constant that holds a variable's address. A module that is linked with others has names of its own for variables that
     * those do not know: a loader finds constants by name alone.
     */
    public String addressConstant(String variable) {
        return ModuleSymbols.addressConstant(linked && symbols.isInternal(variable) ? Integer.toHexString(id) + "_" + variable : variable);
    }

    /** Returns whether the module will be linked with others. */
    public boolean linked() {
        return linked;
    }

    /** The module's functions and variables. */
    public ModuleSymbols symbols() {
        return symbols;
    }

    /** Its calls to what the driver provides. */
    public RuntimeCalls runtime() {
        return runtime;
    }

    /** The functions that make its indirect calls. */
    public Dispatchers dispatchers() {
        return dispatchers;
    }

    AddressFacts facts(PtxFunction function) {
        return facts.get(function);
    }

    /** Types of a function's registers, and its variables. */
    FunctionNames names(PtxFunction function) {
        return names.get(function);
    }

    SymbolTrace trace(PtxFunction function) {
        return traces.get(function);
    }

    /** The loops of a function as its text has them. */
    public LoopText loops(PtxFunction function) {
        return loops.computeIfAbsent(function.body().orElseThrow(), LoopText::new);
    }

    /** Returns where the loops of a function look at the stop word. */
    public Loops watched(PtxFunction function) {
        return watched.get(function);
    }

    /** Returns the class of an instruction of the module. */
    public InstructionClass classOf(Instruction instruction) {
        return classes.get(instruction);
    }

    /** Returns whether the program's data in that place are now in the window. */
    public boolean moved(Place place) {
        return place == Place.CONST && symbols.constantsMove();
    }

    /** Returns whether a generic address whose space is not proved can be anything but global in a legal program. */
    public boolean genericMayBeOther() {
        return sharedEscapes || localEscapes || !escapingParameters.isEmpty() || clusterEscapes;
    }

    /** Returns whether an access of unknown space may be to shared memory. */
    public boolean sharedEscapes() {
        return sharedEscapes;
    }

    /** Returns the barriers that are kept in shared memory, and their location. */
    public BarrierUse barriers() {
        return barriers;
    }

    /** Returns whether lanes of a warp may wait at different barriers in a function, or in its callees. */
    public boolean mixesBarriers(PtxFunction function) {
        return linked && mode != FenceMode.NONE || barriers.isMixed(function);
    }

    /** Returns whether the module uses clusters of blocks. */
    public boolean clusters() {
        return clusters;
    }

    /**
     * Returns whether kernels may be launched in clusters: their fences support them, or nothing depends on the location of a block's shared memory.
     */
    public boolean mayRunInClusters() {
        return clusters || !shared && !linked;
    }

    /** Returns whether device functions receive the address of their kernel's {@link LocalArena}. */
    public boolean passesArena() {
        return arena != null && arena.isPassed();
    }

    /** Returns the bytes of the arena that a function may access; 0 if it has none. */
    public long arenaBytes(PtxFunction function) {
        return arena == null ? 0 : arena.bytes(function);
    }

    /** Returns a fenced function with its local variables at their new location. */
    public PtxFunction moved(PtxFunction function) {
        return arena == null ? function : arena.moved(function);
    }

    /** Returns the functions with parameters whose generic addresses may reach an access of unknown space. */
    public Set<String> escapingParameters() {
        return escapingParameters;
    }

    /** Returns whether an access of unknown space may be to another block's shared memory. */
    public boolean clusterEscapes() {
        return clusterEscapes;
    }

    /**
     * Returns whether an access of the fenced module may be to another block's shared memory; a barrier of the cluster makes such accesses. Then no
     * block ends before the others.
     */
    public boolean keepsBlocks() {
        return keepsBlocks && mode != FenceMode.NONE && !linked;
    }

    /** Returns whether every block has {@code SharedFence.RESERVED_BYTES} of shared memory where the module runs: on GPUs from sm_90 on. */
    public boolean reservesShared() {
        return sm >= RESERVING_SM || module.targets().stream().anyMatch(target -> target.matches("sm_(9|[1-9][0-9])[0-9][a-z]?"));
    }

    /** Local variables of a function. */
    List<Variable> locals(PtxFunction function) {
        return contents.get(function.body().orElseThrow()).locals();
    }

    /** The local variable of a function that has one, or null. */
    public Variable onlyLocal(PtxFunction function) {
        List<Variable> found = locals(function);
        return found.size() == 1 ? found.getFirst() : null;
    }

    /** Returns the length of a table of {@code brx.idx}, or 0 if the function has none with that name. */
    public int branchTargets(PtxFunction function, String name) {
        return signature(function, name) instanceof TargetList list && list.kind() == TargetList.Kind.BRANCH ? list.targets().size() : 0;
    }

    /** The prototype or list of targets of that name in a function, or null. */
    public Statement signature(PtxFunction function, String name) {
        return contents.get(function.body().orElseThrow()).lists().get(name);
    }
}
