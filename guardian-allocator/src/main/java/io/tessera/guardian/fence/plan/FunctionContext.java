package io.tessera.guardian.fence.plan;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.proof.AddressFact;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.FunctionNames;
import io.tessera.guardian.fence.text.Sites;
import io.tessera.guardian.fence.variable.SymbolTrace;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.List;

/** The state that the fences of one function share while it is rewritten. Not thread-safe. */
public final class FunctionContext {
    /** Decisions about the module. */
    public final ModulePlan plan;
    /** The function, as it was read. */
    public final PtxFunction function;
    /** Facts that are proved about its addresses. */
    public final AddressFacts facts;
    /** The variables that its registers most likely point to. */
    public final SymbolTrace trace;
    /** Its registers, variables and parameters. */
    public final FunctionNames names;
    /** The new body. */
    public final Code code = new Code();
    /** Values that the new body loads at its start. */
    public final Prologue prologue;
    /** Targets for threads whose access was stopped. */
    public final Sites sites;
    /** Limits with which its shared addresses are compared. */
    public final SharedLimits limits;
    /** Fences added so far. */
    public final Counts counts = new Counts();
    /** Fences that need not be repeated. */
    public final BlockCache cache = new BlockCache();
    /** The statements that are being rewritten: what follows is looked at for groups of accesses. */
    public List<Statement> statements = List.of();
    /** Index in {@link #statements} of the statement that is being rewritten. */
    public int index;

    /** Creates the context of one function with that number in its module. */
    public FunctionContext(ModulePlan plan, PtxFunction function, int number) {
        this.plan = plan;
        this.function = function;
        this.facts = plan.facts(function);
        this.trace = plan.trace(function);
        this.names = plan.names(function);
        this.prologue = new Prologue(code, function, plan.keepsBlocks());
        this.sites = new Sites(code, number, plan.id());
        this.limits = new SharedLimits(code);
    }

    /** Returns the known facts about the address in that operand. */
    public AddressFact fact(Instruction instruction, int operand) {
        return facts.of(instruction, operand);
    }

    /** The module's mode. */
    public FenceMode mode() {
        return plan.mode();
    }

    /** The variable of that name: of the function, or of the module; null if there is none. */
    public Variable variable(String name) {
        Variable local = names.variable(name);
        return local != null ? local : plan.symbols().variable(name);
    }

    /** Returns whether a name refers to a variable that moved into the window. */
    public boolean hoisted(String name) {
        return plan.symbols().hoists(name) || name.equals(ModulePlan.WORKSPACE);
    }

    /** The address of a variable of the window, in a register. */
    public Operand.Register hoistedAddress(String name) {
        Operand.Register symbol = new Operand.Register(name);
        BlockCache.Entry known = cache.find(symbol, BlockCache.Purpose.SYMBOL, 0);
        if (known != null) {
            return known.fenced();
        }
        Operand.Register address = code.wide();
        code.emit("ld.const.u64", address, Code.at(new Operand.Named(plan.addressConstant(name)), 0));
        cache.put(symbol, new BlockCache.Entry(BlockCache.Purpose.SYMBOL, 0, address));
        return address;
    }

    /** Address after the part of the block's shared memory that belongs to the program. */
    public Operand.Register sharedEnd() {
        return prologue.sharedEnd();
    }

    /** Bytes of the block's shared memory. */
    public Operand.Register sharedBytes() {
        return plan.clusters() ? prologue.sharedBytes() : sharedEnd();
    }

    /** Returns the base of an address in a register of 64 bits. */
    public Operand.Register wide(Operand.Base base) {
        switch (base) {
            case Operand.Register register -> {
                ScalarType type = names.type(register.name());
                if (type == null || type.bits() == 64) {
                    return register;
                }
                Operand.Register wide = code.wide();
                code.emit("cvt.u64.u32", wide, register);
                return wide;
            }
            case Operand.Immediate immediate -> {
                Operand.Register wide = code.wide();
                code.emit("mov.u64", wide, immediate);
                return wide;
            }
            case Operand.Named(String name) -> {
                if (hoisted(name)) {
                    return hoistedAddress(name);
                }
                Operand.Register wide = code.wide();
                code.emit("mov.u64", wide, new Operand.Symbol(name, 0));
                return wide;
            }
        }
    }

    /** Returns the base of an address in a register of 32 bits, as addresses of shared memory are. */
    public Operand.Register word(Operand.Base base) {
        if (base instanceof Operand.Register register) {
            ScalarType type = names.type(register.name());
            if (type != null && type.bits() == 32) {
                return register;
            }
        }
        Operand.Register word = code.word();
        switch (base) {
            case Operand.Register register -> code.emit("cvt.u32.u64", word, register);
            case Operand.Immediate immediate -> code.emit("mov.u32", word, Code.number((int) immediate.value()));
            case Operand.Named(String name) -> code.emit("mov.u32", word, new Operand.Symbol(name, 0));
        }
        return word;
    }

    /** A register plus a constant, in 64 bits. */
    public Operand.Register plus(Operand.Register register, long offset) {
        if (offset == 0) {
            return register;
        }
        Operand.Register sum = code.wide();
        code.emit("add.s64", sum, register, Code.number(offset));
        return sum;
    }
}
