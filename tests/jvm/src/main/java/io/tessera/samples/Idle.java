package io.tessera.samples;

/** Says one line and ends: what is left is what it costs to start a JVM. Uses no CUDA. */
public final class Idle {
    private Idle() {
    }

    /** Runs the program; no arguments. */
    public static void main(String[] arguments) {
        System.out.println("idle: correct");
    }
}
