package io.tessera.agent.instrument;

import io.tessera.agent.boot.Recorder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;

/** Runs after a method that returns the address of new memory. Copied into the method; never called itself. */
final class ReturnedAllocAdvice {
    private ReturnedAllocAdvice() {
    }

    @Advice.OnMethodExit(suppress = Throwable.class)
    static void exit(@Bound.Bytes long bytes, @Bound.Factor long factor, @Bound.Kind int kind,
            @Advice.Return(typing = Assigner.Typing.DYNAMIC) Object address) {
        Recorder.returned(address, bytes, factor, kind);
    }
}
