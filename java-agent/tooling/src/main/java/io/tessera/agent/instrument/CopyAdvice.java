package io.tessera.agent.instrument;

import io.tessera.agent.boot.Recorder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;

/** Runs after a copy. Copied into the method; never called itself. */
final class CopyAdvice {
    private CopyAdvice() {
    }

    @Advice.OnMethodExit(suppress = Throwable.class)
    static void exit(@Bound.Bytes long bytes, @Bound.Factor long factor, @Bound.Direction int direction,
            @Advice.Return(typing = Assigner.Typing.DYNAMIC) Object result) {
        Recorder.copied(bytes, factor, direction, result);
    }
}
