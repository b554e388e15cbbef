package io.tessera.jvm;

import java.util.List;

/** The programs of {@code io.tessera.samples} with arguments under which they end by themselves. */
enum Sample {
    VECTOR_ADD("VectorAdd"), GEMM("Gemm"), REDUCTION("Reduction"), STREAMS("Streams"), ASYNC_COPIES("AsyncCopies"),
    /** Its library is linked with the CUDA runtime too. */
    JAVACPP("JavaCppSaxpy"), SCORING_SERVICE("ScoringService", "requests", "40"), LEAKING_SERVICE("LeakingService", "requests",
            "20"), LAUNCH_LOOP("LaunchLoop", "count", "300"), CHILD_PROCESSES("ChildProcesses"), IDLE("Idle");

    private final String type;
    private final List<String> arguments;

    Sample(String type, String... arguments) {
        this.type = "io.tessera.samples." + type;
        this.arguments = List.of(arguments);
    }

    /** Its main class. */
    String type() {
        return type;
    }

    /** What its main class is given. */
    List<String> arguments() {
        return arguments;
    }

    /** The option of the agent that it needs beside others. */
    String agentOption() {
        return this == JAVACPP ? ",runtime=yes" : "";
    }
}
