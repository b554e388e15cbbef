package io.tessera.cli.jvm;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Calls another process with a time limit, because RMI waits forever for a stopped process. Stateless. */
final class BoundedCall {
    /** An attach waits 10 s by itself; collecting a large heap's garbage may take as long. */
    private static final long BOUND_SECONDS = 40;

    private BoundedCall() {
    }

    /**
     * Calls on a separate daemon thread, which is abandoned if no answer arrives.
     *
     * @throws JvmException if the call failed, or {@code who} does not answer
     */
    static <T> T call(String who, Callable<T> call) throws JvmException {
        FutureTask<T> task = new FutureTask<>(call);
        Thread.ofPlatform().daemon().name("asking " + who).start(task);
        try {
            return task.get(BOUND_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new JvmException(who + " does not answer within " + BOUND_SECONDS + " s; it may be stopped", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new JvmException("interrupted while " + who + " was asked", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof JvmException known) {
                throw known;
            }
            throw new JvmException(who + " could not be asked: " + e.getCause(), e);
        }
    }
}
