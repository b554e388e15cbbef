package io.tessera.agent.instrument;

import io.tessera.agent.boot.Recorder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;

/** Runs before and after a method that frees memory. Copied into the method; never called itself. */
final class FreeAdvice {
    private FreeAdvice() {
    }

    @Advice.OnMethodEnter(suppress = Throwable.class)
    static Object enter(@Bound.Address Object address) {
        return Recorder.freeing(address);
    }

    @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
    static void exit(@Advice.Enter Object entry, @Advice.Return(typing = Assigner.Typing.DYNAMIC) Object result,
            @Advice.Thrown Throwable thrown) {
        Recorder.freed(entry, result, thrown);
    }
}
