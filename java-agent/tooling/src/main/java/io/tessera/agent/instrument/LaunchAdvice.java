package io.tessera.agent.instrument;

import io.tessera.agent.boot.Recorder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;

/** Runs after a launch or a library call. Copied into the method; never called itself. */
final class LaunchAdvice {
    private LaunchAdvice() {
    }

    @Advice.OnMethodExit(suppress = Throwable.class)
    static void exit(@Bound.Kernel Object kernel, @Advice.Return(typing = Assigner.Typing.DYNAMIC) Object result) {
        Recorder.launched(kernel, result);
    }
}
