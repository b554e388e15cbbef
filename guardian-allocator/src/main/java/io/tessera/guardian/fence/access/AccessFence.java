package io.tessera.guardian.fence.access;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.KernelReport.Proof;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.instruction.Access.Place;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.proof.AddressFact;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.variable.SymbolTrace;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.Locale;
import java.util.Optional;

/** Fences one address of an access, by its space. Not thread-safe. */
public final class AccessFence {
    /**
     * Replacement of an address.
     *
     * @param address the operand
     * @param space   modifier of the space that a generic access is proved to have and now names, or null
     */
    public record Fenced(Operand.Address address, String space) {
    }

    private final FunctionContext context;
    private final GlobalFence global;
    private final SharedFence shared;
    private final SymbolClamp clamp;
    private final GenericFence generic;

    /** Creates the fence for one function. It fences addresses of global and shared memory with the given fences. */
    public AccessFence(FunctionContext context, GlobalFence global, SharedFence shared) {
        this.context = context;
        this.global = global;
        this.shared = shared;
        this.clamp = new SymbolClamp(context);
        this.generic = new GenericFence(context, global, shared, clamp);
    }

    /** Fences it. */
    public Fenced fence(Instruction i, Access access) throws FenceRefusedException {
        Operand.Address address = (Operand.Address) i.operands().get(access.operand());
        AddressFact fact = context.fact(i, access.operand());
        context.counts.access(i.opcode(), access.place());
        if (context.mode() == FenceMode.NONE) {
            return new Fenced(context.plan.moved(access.place()) || access.place() == Place.GLOBAL
                    ? global.unfenced(address) : address, moved(access.place()));
        }
        return switch (access.place()) {
            case GLOBAL -> new Fenced(global.fence(i, access, address, fact), null);
            case SHARED -> new Fenced(shared.fence(i, access, address, fact), null);
            case CLUSTER -> new Fenced(shared.cluster(i, access, address), null);
            case CONST -> context.plan.moved(Place.CONST) ? new Fenced(global.fence(i, access, address, fact), "global")
                    : new Fenced(variable(i, access, address, fact), null);
            case LOCAL, PARAM -> new Fenced(variable(i, access, address, fact), null);
            case GENERIC -> generic(i, access, address, fact);
            case GENERIC_SHARED -> new Fenced(shared.generic(i, access, address), null);
        };
    }

    private String moved(Place place) {
        return context.plan.moved(place) ? "global" : null;
    }

    /** Local, constant or parameter memory: inside the variable that the address comes from. */
    private Operand.Address variable(Instruction i, Access access, Operand.Address address, AddressFact fact)
            throws FenceRefusedException {
        if (address.base() instanceof Operand.Named(String name)) {
            Variable variable = context.variable(name);
            boolean inside = variable != null && address.offsetBytes() >= 0
                    && address.offsetBytes() + access.sizeBytes() <= Math.max(variable.sizeBytes(), variable.type().bytes());
            if (!inside) {
                throw new FenceRefusedException(i.mnemonic(), i.line(), "leaves its variable");
            }
            context.counts.proof(access.place() == Place.PARAM ? Proof.PARAMETER : Proof.IN_BOUNDS);
            return address;
        }
        if (inBounds(access, fact)) {
            context.counts.proof(Proof.IN_BOUNDS);
            return address;
        }
        Variable variable = origin(access.place(), address, fact);
        if (variable == null && access.place() == Place.LOCAL && context.plan.arenaBytes(context.function) >= access.sizeBytes()) {
            return clamp.arena(access, address);
        }
        if (variable == null) {
            throw new FenceRefusedException(i.mnemonic(), i.line(),
                    "the variable of its ." + access.place().name().toLowerCase(Locale.ROOT)
                            + " address is not known");
        }
        return clamp.fence(i, access, address, variable);
    }

    private boolean inBounds(Access access, AddressFact fact) {
        return fact.placement() instanceof Placement.NearSymbol(String symbol, long low, long high)
                && context.variable(symbol) instanceof Variable variable && low >= 0 && high >= low
                && high <= variable.sizeBytes() - access.sizeBytes() && fact.alignmentBytes() >= access.alignmentBytes();
    }

    private Variable origin(Place place, Operand.Address address, AddressFact fact) {
        StateSpace space = StateSpace.valueOf(place.name());
        if (fact.placement() instanceof Placement.NearSymbol near) {
            return ofSpace(near.symbol(), space);
        }
        if (address.base() instanceof Operand.Register register) {
            SymbolTrace.Root root = context.trace.root(register);
            if (root != null) {
                return ofSpace(root.symbol(), space);
            }
        }
        // A kernel has no other local memory than its own variables; a function may be given its caller's.
        return place == Place.LOCAL && context.function.kind() == PtxFunction.Kind.ENTRY
                ? context.plan.onlyLocal(context.function) : null;
    }

    private Variable ofSpace(String name, StateSpace space) {
        Variable variable = context.variable(name);
        return variable != null && variable.space() == space ? variable : null;
    }

    private Fenced generic(Instruction i, Access access, Operand.Address address, AddressFact fact)
            throws FenceRefusedException {
        Optional<StateSpace> space = space(address, fact);
        if (space.isEmpty() && !context.plan.genericMayBeOther()) {
            space = Optional.of(StateSpace.GLOBAL);
        }
        if (space.isEmpty()) {
            return new Fenced(generic.fence(i, access, address), null);
        }
        boolean plain = switch (i.opcode()) {
            case "ld", "st", "atom", "red" -> true;
            default -> false;
        };
        return switch (space.get()) {
            case GLOBAL -> new Fenced(global.fence(i, access, address, fact), plain ? "global" : null);
            case SHARED -> plain ? new Fenced(shared.fence(i, access, shared.toShared(address), AddressFact.UNKNOWN), "shared")
                    : new Fenced(shared.generic(i, access, address), null);
            case LOCAL -> new Fenced(ofVariable(i, access, address, fact, Place.LOCAL), null);
            case CONST, PARAM ->
                new Fenced(access.kind() == Access.Kind.READ ? ofVariable(i, access, address, fact, Place.valueOf(space.get().name()))
                        : generic.fence(i, access, address), null);
            default -> new Fenced(generic.fence(i, access, address), null);
        };
    }

    private Optional<StateSpace> space(Operand.Address address, AddressFact fact) {
        if (address.base() instanceof Operand.Named(String name) && context.hoisted(name)) {
            return Optional.of(StateSpace.GLOBAL);
        }
        // Constants that moved are global now.
        return fact.space().filter(s -> s == StateSpace.CONST).isPresent() && context.plan.moved(Place.CONST)
                ? Optional.of(StateSpace.GLOBAL) : fact.space();
    }

    /**
     * A generic address of a variable of local, constant or parameter memory stays generic, so that the rewriter needs no knowledge of the
     * instruction.
     */
    private Operand.Address ofVariable(Instruction i, Access access, Operand.Address address, AddressFact fact, Place place)
            throws FenceRefusedException {
        // No atomic operation works on local memory; an address there is as harmless as any other.
        if (inBounds(access, fact)) {
            context.counts.proof(Proof.IN_BOUNDS);
            return address;
        }
        Variable variable = origin(place, address, fact);
        if (variable == null) {
            return generic.fence(i, access, address);
        }
        String space = place.name().toLowerCase(Locale.ROOT);
        Operand.Register there = context.code.wide();
        Operand.Register back = context.code.wide();
        context.code.emit("cvta.to." + space + ".u64", there, context.wide(address.base()));
        Operand.Address clamped = clamp.fence(i, access, Code.at(there, address.offsetBytes()), variable);
        context.code.emit("cvta." + space + ".u64", back, (Operand.Register) clamped.base());
        return Code.at(back, clamped.offsetBytes());
    }
}
