package io.tessera.agent.instrument;

import io.tessera.agent.boot.Recorder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;

/** Runs after a method that derives a pointer from another. Copied into the method; never called itself. */
final class DeriveAdvice {
    private DeriveAdvice() {
    }

    @Advice.OnMethodExit(suppress = Throwable.class)
    static void exit(@Advice.This Object from, @Advice.Return(typing = Assigner.Typing.DYNAMIC) Object made) {
        Recorder.derived(from, made);
    }
}
