package io.tessera.agent.instrument;

import io.tessera.agent.boot.Recorder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;

/** Runs after a method that finds a kernel by its name. Copied into the method; never called itself. */
final class NameAdvice {
    private NameAdvice() {
    }

    @Advice.OnMethodExit(suppress = Throwable.class)
    static void exit(@Bound.Kernel Object kernel, @Bound.Name Object name,
            @Advice.Return(typing = Assigner.Typing.DYNAMIC) Object result) {
        Recorder.named(kernel, name, result);
    }
}
