package io.tessera.system;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits with a bound. */
public final class Await {
    /** Bound for events that occur at once on an idle machine. With builds running beside the tests, they may take seconds. */
    public static final Duration PATIENCE = Duration.ofSeconds(60);

    private Await() {
    }

    /** Returns once the condition holds; fails with {@code what} and the last state after {@code bound}. */
    public static void until(String what, Duration bound, BooleanSupplier condition, Supplier<String> state) {
        long end = System.nanoTime() + bound.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within " + bound.toMillis() + " ms: " + what + "; " + state.get());
            }
            sleep(Duration.ofMillis(5));
        }
    }

    public static void until(String what, Duration bound, BooleanSupplier condition) {
        until(what, bound, condition, () -> "");
    }

    public static void sleep(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the test was interrupted", e);
        }
    }
}
