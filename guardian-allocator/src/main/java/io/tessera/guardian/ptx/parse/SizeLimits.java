package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;

/**
 * Limits on the sizes of variables. NVIDIA's assembler counts sizes in 32 bits and cuts off the rest: of {@code .local .b8 x[4294967312]} 16 bytes
 * are left. Therefore sizes that no GPU can have are refused (PTX ISA, "State Spaces"; CUDA programming guide, "Compute Capabilities"). Sizes include
 * alignment. Not thread-safe.
 */
final class SizeLimits {
    /** Local memory of a thread: 512 KiB. It also holds the parameters of calls. */
    private static final long LOCAL_BYTES = 512 << 10;
    /** A block has 227 KiB on the largest GPUs; the address range is 16 MiB. */
    private static final long SHARED_BYTES = 256 << 10;
    /** The module's, which different kernels use. */
    private static final long MODULE_SHARED_BYTES = 1 << 30;
    /** Parameters of a kernel, since PTX ISA 8.1. */
    private static final long ENTRY_BYTES = 32764;
    /** Ten banks of 64 KiB. */
    private static final long CONST_BYTES = 640 << 10;
    private static final long GLOBAL_BYTES = 0xFFFF_FFFFL;
    private static final int ALIGNMENT_BYTES = 4096;

    private final Tokens tokens;
    private long local;
    private long shared;
    private long parameters;
    private long moduleShared;

    SizeLimits(Tokens tokens) {
        this.tokens = tokens;
    }

    /** Begins a function. */
    void enterFunction() {
        local = 0;
        shared = 0;
        parameters = 0;
    }

    /** Checks a variable of the module, or of a function that lives as long. */
    void module(Variable variable, String name) throws PtxException {
        long bytes = size(variable, name);
        switch (variable.space()) {
            case SHARED -> moduleShared = sum(moduleShared, alone(bytes, SHARED_BYTES, variable, name), variable, MODULE_SHARED_BYTES, name);
            case CONST -> alone(bytes, CONST_BYTES, variable, name);
            case LOCAL, PARAM -> throw tokens.errorAtName("'" + name + "' is in ." + variable.space().ptx()
                    + ", where a module has no variables");
            default -> alone(bytes, GLOBAL_BYTES, variable, name);
        }
    }

    /** Checks a variable or parameter of a function. */
    void function(Variable variable, String name) throws PtxException {
        long bytes = size(variable, name);
        switch (variable.space()) {
            case SHARED -> shared = sum(shared, bytes, variable, SHARED_BYTES, name);
            case LOCAL, PARAM -> local = sum(local, bytes, variable, LOCAL_BYTES, name);
            default -> {}
        }
    }

    /** Checks a parameter of a kernel. */
    void entry(Variable variable, String name) throws PtxException {
        long bytes = size(variable, name);
        parameters = sum(parameters + variable.alignment() - 1 & -variable.alignment(), bytes, null, ENTRY_BYTES, name);
    }

    private long alone(long bytes, long most, Variable variable, String name) throws PtxException {
        if (bytes > most) {
            throw tooLarge(name, variable.space().ptx(), most);
        }
        return bytes;
    }

    private long sum(long before, long bytes, Variable aligned, long most, String name) throws PtxException {
        long after = before + (bytes > most ? most + 1 : bytes) + (aligned == null ? 0 : aligned.alignment() - 1);
        if (after > most) {
            throw tooLarge(name, aligned == null ? "param" : aligned.space().ptx(), most);
        }
        return after;
    }

    private PtxException tooLarge(String name, String space, long most) {
        return tokens.errorAtName("'" + name + "' does not fit: there are " + most + " bytes of ." + space + " at most");
    }

    private long size(Variable variable, String name) throws PtxException {
        boolean open = variable.dimensions().contains(Variable.UNSIZED) && variable.space() != StateSpace.PARAM
                && variable.linkage() != Linkage.EXTERN;
        if (open) {
            throw tokens.errorAtName("'" + name + "' has no size");
        }
        boolean onChip = variable.space() != StateSpace.GLOBAL && variable.space() != StateSpace.CONST;
        if (onChip && variable.alignment() > ALIGNMENT_BYTES) {
            throw tokens.errorAtName("'" + name + "' is aligned to " + variable.alignment() + " bytes; ." + variable.space().ptx()
                    + " has " + ALIGNMENT_BYTES + " at most");
        }
        try {
            return variable.sizeBytes();
        } catch (ArithmeticException e) {
            throw tokens.errorAtName("'" + name + "' has a size of more than 64 bits");
        }
    }
}
