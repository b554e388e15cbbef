package io.tessera.software.compile;

import io.tessera.software.execution.BlockState;
import io.tessera.software.execution.GridState;
import io.tessera.software.execution.SpecialRegisterValues;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.launch.Dim3;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.SpecialRegister;
import java.lang.classfile.CodeBuilder;

/** Emits reads of special registers. */
final class SpecialRegisterEmitter {
    private static final String[] AXES = {"x", "y", "z"};
    private static final String[] FIELD_AXES = {"X", "Y", "Z"};

    private final CodeBuilder code;

    SpecialRegisterEmitter(CodeBuilder code) {
        this.code = code;
    }

    /** Pushes the low 32 bits. */
    void pushInt(LoweredOperand.Special special) {
        switch (special.register()) {
            case TID -> thread("tid" + FIELD_AXES[special.dimension()]);
            case LANEID -> thread("lane");
            case WARPID -> thread("warp");
            case CTAID -> {
                code.aload(ReservedLocals.BLOCK);
                CallEmitter.get(code, BlockState.class, "ctaid" + FIELD_AXES[special.dimension()], int.class);
            }
            case NTID -> dimension("block", special.dimension());
            case NCTAID -> dimension("grid", special.dimension());
            case WARP_SZ -> code.loadConstant(32);
            case LANEMASK_EQ -> bit();
            case LANEMASK_LT -> {
                bit();
                code.iconst_1().isub();
            }
            case LANEMASK_LE -> {
                bit();
                code.iconst_1().ishl().iconst_1().isub();
            }
            case LANEMASK_GE -> code.iconst_m1().aload(ReservedLocals.THREAD).getfield(CallEmitter.of(ThreadState.class), "lane",
                    CallEmitter.of(int.class)).ishl();
            case LANEMASK_GT -> {
                code.loadConstant(-2);
                thread("lane");
                code.ishl();
            }
            default -> {
                pushValue(special);
                code.l2i();
            }
        }
    }

    /** Pushes 64 bits; narrower ones zero-extended. */
    void pushLong(LoweredOperand.Special special) {
        if (special.register().isWide()) {
            pushValue(special);
            return;
        }
        pushInt(special);
        code.i2l().loadConstant(0xffffffffL).land();
    }

    private void pushValue(LoweredOperand.Special special) {
        code.aload(ReservedLocals.THREAD);
        CallEmitter.push(code, special.register());
        code.loadConstant(special.dimension());
        CallEmitter.invoke(code, SpecialRegisterValues.class, "read", long.class, ThreadState.class, SpecialRegister.class,
                int.class);
    }

    private void thread(String field) {
        code.aload(ReservedLocals.THREAD);
        CallEmitter.get(code, ThreadState.class, field, int.class);
    }

    private void dimension(String field, int axis) {
        code.aload(ReservedLocals.GRID);
        CallEmitter.get(code, GridState.class, field, Dim3.class);
        CallEmitter.invokeVirtual(code, Dim3.class, AXES[axis], int.class);
    }

    private void bit() {
        code.iconst_1();
        thread("lane");
        code.ishl();
    }
}
