package io.tessera.system;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits with a bound. */
final class Await {
    /** For what happens at once where the machine is not busy: it may be, with builds beside the tests, for seconds. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private Await() {
    }

    /** Returns once the condition holds; fails with {@code what} and the last state after {@code bound}. */
    static void until(String what, Duration bound, BooleanSupplier condition, Supplier<String> state) {
        long end = System.nanoTime() + bound.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within " + bound.toMillis() + " ms: " + what + "; " + state.get());
            }
            sleep(Duration.ofMillis(5));
        }
    }

    static void until(String what, Duration bound, BooleanSupplier condition) {
        until(what, bound, condition, () -> "");
    }

    static void sleep(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the test was interrupted", e);
        }
    }
}
