package io.tessera.guardian.verify;

import io.tessera.guardian.ptx.Alias;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.FileEntry;
import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Section;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import io.tessera.guardian.ptx.parse.SpecialRegisters;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The checked declarations of a module: no global memory of its own, constants that the loader fills, and functions. Used by one thread. */
public final class ModuleNames {
    private static final long MOST_SHARED = 256 << 10;
    private static final long MOST_CONST = 64 << 10;
    private static final long MOST_PARAM = 512 << 10;
    private static final long MOST_LOCAL = 512 << 10;
    private static final Set<String> PRAGMAS = Set.of("nounroll");
    private static final String COUNTS_CLUSTERS = "blocksareclusters";
    private static final Set<String> ATTRIBUTES = Set.of("maxntid", "reqntid", "maxnreg", "minnctapersm", "maxnctapersm", "noreturn",
            "reqnctapercluster", "explicitcluster", "maxclusterrank", COUNTS_CLUSTERS);

    private static final Set<String> NO_ACCESS = Set.of("mapa", "getctarank", "isspacep", "fence");

    public final Map<String, PtxFunction> functions = new LinkedHashMap<>();
    public final Map<String, byte[]> texts = new HashMap<>();
    /** Memory of the module, but for textures and private texts. */
    final List<Variable> variables = new ArrayList<>();
    private final Map<String, Symbol> symbols = new HashMap<>();
    private final Set<String> addresses = new HashSet<>();
    private final Set<String> defined = new HashSet<>();
    private final Set<String> references = new HashSet<>();
    private final Map<String, String> aliases = new HashMap<>();
    private final Mode mode;
    private final boolean linked;
    private boolean clustered;
    private boolean reachesBlocks;
    private boolean countsClusters;

    /** Reads the declarations of a module, and refuses what fenced text does not have. */
    public ModuleNames(PtxModule module, Mode mode, boolean linked) throws UnverifiedException {
        this.mode = mode;
        this.linked = linked;
        if (module.addressBits() != Long.SIZE || module.targets().contains("debug")) {
            throw new UnverifiedException(0, "addresses of 32 bits, or debug information");
        }
        for (Directive directive : module.directives()) {
            switch (directive) {
                case Variable variable -> variable(variable);
                case PtxFunction function -> function(function);
                case Alias alias -> aliases.put(alias.name(), alias.target());
                case Pragma pragma -> pragma(pragma);
                case FileEntry _ -> {}
                case Section section -> throw new UnverifiedException(section.line(), "a section");
            }
        }
    }

    private void function(PtxFunction function) throws UnverifiedException {
        PtxFunction known = functions.get(function.name());
        if (known != null && !(shape(known).equals(shape(function)) && agree(known.linkage(), function.linkage()))
                || symbols.containsKey(function.name())
                || SpecialRegisters.contains(function.name())) {
            throw new UnverifiedException(function.line(), "'" + function.name() + "' is declared in two ways");
        }
        if (known == null || function.body().isPresent()) {
            functions.put(function.name(), function);
        }
        clustered |= !linked && (function.attributes().stream().anyMatch(each -> each.name().contains("cluster"))
                || function.body().filter(ModuleNames::namesClusters).isPresent());
        reachesBlocks |= clustered && function.body().filter(ModuleNames::reachesBlocks).isPresent();
        boolean counts = function.attribute(COUNTS_CLUSTERS).isPresent();
        countsClusters |= counts;
        for (FunctionAttribute attribute : function.attributes()) {
            // A linked module knows nothing of the kernels that call its functions.
            boolean allowed = ATTRIBUTES.contains(attribute.name()) && !(linked && counts);
            if (!allowed && mode != Mode.NONE) {
                throw new UnverifiedException(function.line(), "'" + function.name() + "' has ." + attribute.name());
            }
        }
    }

    /** Returns whether two declarations of a function agree on its visibility: one with a body may be the definition that another needs. */
    private static boolean agree(Linkage one, Linkage other) {
        return one == other || one == Linkage.EXTERN && other != Linkage.INTERNAL || other == Linkage.EXTERN && one != Linkage.INTERNAL;
    }

    /** Returns the properties in which a function and its callers must agree. */
    static String shape(PtxFunction function) {
        StringBuilder text = new StringBuilder(function.kind().name());
        shape(function.returns(), text);
        shape(function.parameters(), text);
        return text.append(function.attribute("noreturn").isPresent() ? " without return" : "").toString();
    }

    private static void shape(List<Variable> variables, StringBuilder into) {
        into.append(" (");
        for (Variable variable : variables) {
            into.append(variable.space()).append(' ').append(variable.space() == StateSpace.REG ? variable.type().bits() : variable.sizeBytes())
                    .append(" aligned to ").append(variable.alignment()).append("; ");
        }
        into.append(')');
    }

    private static boolean namesClusters(Block body) {
        return body.statements().stream().anyMatch(each -> each instanceof Instruction i
                && (i.opcode().equals("mapa") || i.opcode().equals("getctarank") || i.has("cluster") || i.has("shared::cluster")));
    }

    /**
     * Returns whether an access may be to another block: it names the cluster's shared memory, or uses a generic address that was made from such an
     * address.
     */
    private static boolean reachesBlocks(Block body) {
        return body.statements().stream().anyMatch(each -> each instanceof Instruction i && i.has("shared::cluster")
                && !NO_ACCESS.contains(i.opcode()) && !(i.opcode().equals("cvta") && i.has("to")));
    }

    private void variable(Variable variable) throws UnverifiedException {
        String name = variable.name();
        if (functions.containsKey(name) || symbols.containsKey(name) || addresses.contains(name) || references.contains(name)
                || SpecialRegisters.contains(name) || name.equals("WARP_SZ")) {
            throw new UnverifiedException(variable.line(), "'" + name + "' is declared twice");
        }
        switch (variable.space()) {
            case CONST -> constant(variable);
            case SHARED -> shared(variable);
            case GLOBAL -> global(variable);
            case TEX -> references.add(name);
            default -> throw new UnverifiedException(variable.line(), "'" + name + "' is no variable that a module may have");
        }
    }

    private void constant(Variable variable) throws UnverifiedException {
        String name = variable.name();
        boolean filled = name.equals(Reserved.WINDOW) || name.startsWith(Reserved.ADDRESS);
        if (!filled && name.startsWith(Reserved.PREFIX)) {
            throw new UnverifiedException(variable.line(), "'" + name + "' is a reserved name");
        }
        if (filled) {
            boolean window = name.equals(Reserved.WINDOW);
            boolean shape = variable.initializer().isEmpty() && variable.type() == ScalarType.B64 && variable.vectorLength() == 1
                    && (window ? variable.dimensions().equals(List.of(8L)) && variable.alignment() == 16
                            && (variable.linkage() == Linkage.VISIBLE || variable.linkage() == Linkage.WEAK) : variable.dimensions().isEmpty());
            if (!shape || variable.linkage() == Linkage.COMMON || !linked && variable.linkage() == Linkage.INTERNAL) {
                throw new UnverifiedException(variable.line(), "'" + name + "' is not what the loader fills");
            }
            if (!window) {
                addresses.add(name);
                if (variable.linkage() != Linkage.EXTERN) {
                    defined.add(name);
                }
            }
        }
        if (variable.initializer().isPresent() && !plain(variable.initializer().get())) {
            throw new UnverifiedException(variable.line(), "'" + name + "' holds an address");
        }
        symbols.put(name, Symbol.of(variable, false, bytes(variable)));
        variables.add(variable);
    }

    private void shared(Variable variable) throws UnverifiedException {
        boolean dynamic = variable.linkage() == Linkage.EXTERN && variable.dimensions().contains(Variable.UNSIZED);
        boolean start = variable.name().equals(Reserved.DYNAMIC);
        if (variable.initializer().isPresent() || !dynamic && variable.linkage() == Linkage.EXTERN && !linked
                || start && !(dynamic && variable.alignment() == 16)) {
            throw new UnverifiedException(variable.line(), "'" + variable.name() + "' is no shared variable that there is");
        }
        symbols.put(variable.name(), Symbol.of(variable, false, dynamic ? 0 : bytes(variable)));
        variables.add(variable);
    }

    private void global(Variable variable) throws UnverifiedException {
        if (variable.type().kind() == ScalarType.Kind.OPAQUE) {
            references.add(variable.name());
            return;
        }
        boolean text = variable.name().startsWith(Reserved.FORMAT) && variable.type() == ScalarType.B8 && variable.linkage() == Linkage.INTERNAL
                && variable.dimensions().size() == 1 && variable.vectorLength() == 1;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (text && variable.initializer().orElse(null) instanceof Initializer.Aggregate(List<Initializer> elements)) {
            for (Initializer element : elements) {
                bytes.write(element instanceof Initializer.Integer(long value) && value >= 0 && value < 256 ? (int) value : 0);
            }
        }
        byte[] read = bytes.toByteArray();
        boolean ends = read.length > 0 && read.length == variable.dimensions().getFirst() && read[read.length - 1] == 0;
        if (!text || !ends) {
            throw new UnverifiedException(variable.line(), "'" + variable.name() + "' is global memory outside of the window");
        }
        texts.put(variable.name(), read);
        symbols.put(variable.name(), Symbol.of(variable, false, read.length));
    }

    private static boolean plain(Initializer initializer) {
        return switch (initializer) {
            case Initializer.AddressOf _,Initializer.Field _ -> false;
            case Initializer.Aggregate(List<Initializer> elements) -> elements.stream().allMatch(ModuleNames::plain);
            default -> true;
        };
    }

    /** Size of a variable as the assembler takes it: no larger than what there can be. */
    public long bytes(Variable variable) throws UnverifiedException {
        long most = switch (variable.space()) {
            case SHARED -> MOST_SHARED;
            case CONST -> MOST_CONST;
            case PARAM -> MOST_PARAM;
            default -> MOST_LOCAL;
        };
        long bytes = (long) variable.type().bytes() * variable.vectorLength();
        for (long length : variable.dimensions()) {
            bytes = length < 0 || length > most ? most + 1 : bytes * length;
            if (bytes > most) {
                throw new UnverifiedException(variable.line(), "'" + variable.name() + "' has no size that a variable can have");
            }
        }
        return bytes;
    }

    /** Refuses a pragma that is not known to change nothing. */
    public void pragma(Pragma pragma) throws UnverifiedException {
        if (!PRAGMAS.containsAll(pragma.values())) {
            throw new UnverifiedException(pragma.line(), "pragma " + pragma.values());
        }
    }

    /** Returns whether the module declares that name. */
    public boolean names(String name) {
        return symbols.containsKey(name) || functions.containsKey(name) || aliases.containsKey(name) || references.contains(name);
    }

    /** The variable of that name, or null. */
    public Symbol symbol(String name) {
        return symbols.get(name);
    }

    /** Returns whether a name is that of a texture, sampler or surface. */
    public boolean isReference(String name) {
        return references.contains(name);
    }

    /** Returns whether a constant holds an address in the window. */
    public boolean isAddress(String name) {
        return addresses.contains(name);
    }

    /** Returns whether the module defines the variable itself, rather than leaving it to another module. */
    public boolean definesAddress(String name) {
        return defined.contains(name);
    }

    /** The function of a name, or null. */
    public PtxFunction function(String name) {
        PtxFunction function = functions.get(name);
        return function != null ? function : functions.get(aliases.getOrDefault(name, ""));
    }

    /** Names that are other names of functions. */
    Set<String> aliases() {
        return aliases.keySet();
    }

    /** Returns the target of an alias, or null. */
    public String alias(String name) {
        return aliases.get(name);
    }

    /** Returns whether anything in the module uses clusters of blocks: then its kernels may be launched in them. */
    public boolean isClustered() {
        return clustered;
    }

    /** Returns whether accesses may be to the shared memory of other blocks of a cluster, so that blocks wait for their cluster. */
    public boolean reachesBlocks() {
        return reachesBlocks && mode != Mode.NONE;
    }

    /**
     * Returns whether that applies to a function. It does not apply to a kernel that calls nothing and has no such access itself, since then no block
     * of its cluster has one.
     *
     * @param function one with a body
     */
    public boolean reachesBlocks(PtxFunction function) {
        Block body = function.body().orElseThrow();
        return reachesBlocks() && (function.kind() != PtxFunction.Kind.ENTRY || reachesBlocks(body)
                || body.statements().stream().anyMatch(each -> each instanceof Instruction i && i.opcode().equals("call")));
    }

    /** Returns whether a kernel's grid counts clusters, so that it has more blocks than a launch says. */
    public boolean countsClusters() {
        return countsClusters;
    }

    /** Returns the fence mode that the text declares. */
    public Mode mode() {
        return mode;
    }

    /** Returns whether it is linked with others. */
    public boolean linked() {
        return linked;
    }

    /** Returns whether it is a variable of shared memory. */
    public static boolean isShared(Symbol symbol) {
        return symbol != null && symbol.space() == StateSpace.SHARED;
    }
}
