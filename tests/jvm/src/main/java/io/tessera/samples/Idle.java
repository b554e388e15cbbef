package io.tessera.samples;

/** Prints one line and ends, which measures the cost of starting a JVM. Does not use CUDA. */
public final class Idle {
    private Idle() {
    }

    /** Runs the program; no arguments. */
    public static void main(String[] arguments) {
        System.out.println("idle: correct");
    }
}
