package io.tessera.agent.instrument;

import io.tessera.agent.boot.Recorder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;

/** Runs after a method that stores the address of new memory in an argument. Copied into the method; never called itself. */
final class AllocAdvice {
    private AllocAdvice() {
    }

    @Advice.OnMethodExit(suppress = Throwable.class)
    static void exit(@Bound.Address Object address, @Bound.Bytes long bytes, @Bound.Factor long factor,
            @Bound.Kind int kind, @Advice.Return(typing = Assigner.Typing.DYNAMIC) Object result) {
        Recorder.allocated(address, bytes, factor, kind, result);
    }
}
