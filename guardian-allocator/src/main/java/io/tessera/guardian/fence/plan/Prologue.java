package io.tessera.guardian.fence.plan;

import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.fence.text.Sites;
import io.tessera.guardian.fence.variable.ArenaWriter;
import io.tessera.guardian.fence.variable.LocalArena;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import java.util.ArrayList;
import java.util.List;

/** Values that a fenced function loads at its start, if they are used. Not thread-safe. */
public final class Prologue {
    public static final int WARP = 32;
    /** Open array of shared memory that fenced modules declare: its address is where dynamic shared memory starts. */
    public static final String DYNAMIC_SHARED = WindowConstants.PREFIX + "shared";

    private static final long SHARED_NUMBER = 0xFFFF_FFFF_FF00_0000L;

    private final Code code;
    private final PtxFunction function;
    private final boolean waits;
    private final List<Statement> statements = new ArrayList<>();
    private Operand.Register baseHigh;
    private Operand.Register highWord;
    private Operand.Register commonBaseHigh;
    private Operand.Register commonHighWord;
    private Operand.Register reciprocal;
    private boolean usesShared;
    private Operand.Register sharedStart;
    private Operand.Register sharedEnd;
    private long neededShared;
    private Operand.Register localStart;
    private Operand.Register sharedBase;
    private Operand.Register sharedBytes;
    private Operand.Register ownLane;
    private Operand.Register blockThreads;
    private Operand.Register warpLanes;

    /** Creates the prologue of a function whose block may have to wait for its cluster, or not. */
    Prologue(Code code, PtxFunction function, boolean waits) {
        this.code = code;
        this.function = function;
        this.waits = waits;
    }

    /** High 32 bits of the window's base. */
    public Operand.Register baseHigh() {
        if (baseHigh == null) {
            baseHigh = code.word();
            highWord = code.word();
            write(() -> code.emit("ld.const.v2.u32", Code.pair(baseHigh, highWord),
                    Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.HIGH_WORDS)));
        }
        return baseHigh;
    }

    /** Mask of the high word, or size in units of 4 GiB. */
    public Operand.Register highWord() {
        baseHigh();
        return highWord;
    }

    /**
     * As {@link #baseHigh}, for addresses that are the same in all threads of a grid. The value is loaded from a second place: the assembler keeps a
     * value in registers of the warp if it is only used with such addresses, and merges the two values if they come from one place.
     */
    public Operand.Register commonBaseHigh() {
        if (commonBaseHigh == null) {
            commonBaseHigh = code.word();
            commonHighWord = code.word();
            write(() -> code.emit("ld.const.v2.u32", Code.pair(commonBaseHigh, commonHighWord),
                    Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.COMMON_HIGH_WORDS)));
        }
        return commonBaseHigh;
    }

    /** {@link #highWord} for the same. */
    public Operand.Register commonHighWord() {
        commonBaseHigh();
        return commonHighWord;
    }

    /** See {@link WindowConstants}. */
    public Operand.Register reciprocal() {
        if (reciprocal == null) {
            reciprocal = code.word();
            write(() -> code.emit("ld.const.u32", reciprocal,
                    Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.RECIPROCAL)));
        }
        return reciprocal;
    }

    /** Address of the block's dynamic shared memory. */
    public Operand.Register sharedStart() {
        if (sharedStart == null) {
            usesShared = true;
            sharedStart = code.word();
            write(() -> code.emit("mov.u32", sharedStart, new Operand.Symbol(DYNAMIC_SHARED, 0)));
        }
        return sharedStart;
    }

    /** Lowest address of the block's shared memory: in a cluster the top byte is the number of the block. */
    public Operand.Register sharedBase() {
        if (sharedBase == null) {
            Operand.Register start = sharedStart();
            sharedBase = code.word();
            write(() -> code.emit("and.b32", sharedBase, start, Code.number(SHARED_NUMBER)));
        }
        return sharedBase;
    }

    /** Bytes of the block's shared memory, in a cluster. */
    Operand.Register sharedBytes() {
        if (sharedBytes == null) {
            Operand.Register base = sharedBase();
            Operand.Register end = sharedEnd();
            sharedBytes = code.word();
            write(() -> code.emit("sub.u32", sharedBytes, end, base));
        }
        return sharedBytes;
    }

    /** Address after the part of the block's shared memory that belongs to the program. */
    Operand.Register sharedEnd() {
        if (sharedEnd == null) {
            sharedEnd = code.word();
            write(() -> sharedEnd(sharedEnd, code));
        }
        return sharedEnd;
    }

    /** Writes that address where the code is: dynamic memory comes last. */
    void sharedEnd(Operand.Register end, Code where) {
        usesShared = true;
        Operand.Register size = where.word();
        where.emit("mov.u32", end, new Operand.Symbol(DYNAMIC_SHARED, 0));
        where.emit("mov.u32", size, new Operand.SpecialRegister("%dynamic_smem_size", ""));
        if (waits) {
            where.emit("sub.u32", size, size, Code.number(FencedModule.CLUSTER_BYTES));
        }
        where.emit("add.u32", end, end, size);
    }

    /** Records that fences rely on this much shared memory of the block in all: see {@link #checkShared}. */
    public void needShared(long bytes) {
        neededShared = Math.max(neededShared, bytes);
    }

    /** Ends the threads of blocks that have less shared memory than was noted, once, at the function's start. */
    public void checkShared(Sites sites) {
        if (neededShared == 0) {
            return;
        }
        Operand.Register dynamic = code.word();
        Operand.Register less = code.truth();
        String look = code.newLabel("shared");
        String enough = code.newLabel("shared");
        write(() -> {
            code.emit("mov.u32", dynamic, new Operand.SpecialRegister("%dynamic_smem_size", ""));
            code.emit("setp.lt.u32", less, dynamic, Code.number(neededShared));
            code.branch(less, false, look);
            code.label(enough);
        });
        // Seldom: where the block's variables have to make up for it.
        sites.tail(() -> {
            Operand.Register end = code.word();
            Operand.Register little = code.truth();
            code.label(look);
            sharedEnd(end, code);
            code.emit("setp.lt.u32", little, end, Code.number(neededShared));
            code.branch(little, false, sites.narrow(ReportArea.Kind.ADDRESS, 0, end));
            code.emit("bra", new Operand.Symbol(enough, 0));
        });
    }

    /** Address of the {@link LocalArena}. */
    public Operand.Register localStart() {
        if (localStart == null) {
            localStart = code.wide();
            boolean kernel = function.kind() == PtxFunction.Kind.ENTRY;
            write(() -> code.emit(kernel ? "mov.u64" : "ld.param.b64", localStart,
                    kernel ? new Operand.Symbol(ArenaWriter.NAME, 0) : Code.at(new Operand.Named(ArenaWriter.NAME), 0)));
        }
        return localStart;
    }

    /** The bit of this lane. */
    public Operand.Register ownLane() {
        if (ownLane == null) {
            ownLane = code.word();
            write(() -> code.emit("mov.u32", ownLane, new Operand.SpecialRegister("%lanemask_eq", "")));
        }
        return ownLane;
    }

    /** Threads of the block, in whole warps. */
    public Operand.Register blockThreads() {
        if (blockThreads == null) {
            blockThreads = code.word();
            write(() -> {
                threads(blockThreads);
                code.emit("add.u32", blockThreads, blockThreads, Code.number(WARP - 1));
                code.emit("and.b32", blockThreads, blockThreads, Code.number(-WARP));
            });
        }
        return blockThreads;
    }

    private void threads(Operand.Register product) {
        Operand.Register axis = code.word();
        code.emit("mov.u32", product, new Operand.SpecialRegister("%ntid", "x"));
        for (String name : new String[] {"y", "z"}) {
            code.emit("mov.u32", axis, new Operand.SpecialRegister("%ntid", name));
            code.emit("mul.lo.u32", product, product, axis);
        }
    }

    /** Mask of the lanes that this thread's warp began with: the last warp of a block may have fewer than others. */
    public Operand.Register warpLanes() {
        if (warpLanes == null) {
            warpLanes = code.word();
            Operand.Register before = code.word();
            Operand.Register size = code.word();
            Operand.Register left = code.word();
            write(() -> {
                // The thread's number, less its lane: x + width * (y + height * z).
                code.emit("mov.u32", before, new Operand.SpecialRegister("%tid", "z"));
                for (String name : new String[] {"y", "x"}) {
                    code.emit("mov.u32", size, new Operand.SpecialRegister("%ntid", name));
                    code.emit("mov.u32", left, new Operand.SpecialRegister("%tid", name));
                    code.emit("mad.lo.u32", before, before, size, left);
                }
                code.emit("and.b32", before, before, Code.number(-WARP));
                threads(left);
                code.emit("sub.u32", left, left, before);
                code.emit("min.u32", left, left, Code.number(WARP));
                code.emit("sub.u32", left, Code.number(WARP), left);
                code.emit("mov.u32", warpLanes, Code.number(-1));
                code.emit("shr.u32", warpLanes, warpLanes, left);
            });
        }
        return warpLanes;
    }

    /** Returns whether {@link #DYNAMIC_SHARED} has to be declared. */
    public boolean usesShared() {
        return usesShared;
    }

    /** Writes at the function's start. */
    public void write(Runnable writer) {
        List<Statement> outer = code.enter();
        writer.run();
        statements.addAll(code.leave(outer));
    }

    /** Returns the emitted statements, in order. */
    public List<Statement> statements() {
        return statements;
    }
}
