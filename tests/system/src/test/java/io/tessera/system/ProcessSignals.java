package io.tessera.system;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Sends signals to processes that a test started. */
public final class ProcessSignals {
    public static final int KILL = 9;
    public static final int USR1 = 10;
    public static final int USR2 = 12;
    public static final int TERM = 15;
    public static final int CONT = 18;
    public static final int STOP = 19;

    private static final MethodHandle SEND = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("kill").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    private ProcessSignals() {
    }

    /** Sends a signal. Returns the time at which it was sent, on {@link System#nanoTime}'s clock, which is CLOCK_MONOTONIC. */
    public static long send(Process process, int signal) {
        long atNs = System.nanoTime();
        if (!send(process.pid(), signal)) {
            throw new IllegalStateException("signal " + signal + " could not be sent to " + process.pid());
        }
        return atNs;
    }

    /** Sends a signal to a process that a program under test has started. Returns whether the process existed. */
    public static boolean send(long pid, int signal) {
        try {
            return (int) SEND.invokeExact((int) pid, signal) == 0;
        } catch (Throwable e) {
            throw new IllegalStateException("kill(2) cannot be called", e);
        }
    }
}
