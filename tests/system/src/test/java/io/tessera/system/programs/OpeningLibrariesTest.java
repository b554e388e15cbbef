package io.tessera.system.programs;

import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Libraries that use the device from their constructors and destructors. Meanwhile glibc holds the lock that dlsym takes. So while a
 * program waits there for its turn, no code of Tessera's on which it depends may look up a symbol.
 */
@ExtendWith(RunWatcher.class)
class OpeningLibrariesTest {
    /** In plan swap the two do not fit together. */
    @ParameterizedTest
    @CsvSource({"plain, 1048576", "managed, 1048576", "swap, 50331648"})
    void turnsComeWhileALibraryIsOpenedAndClosed(String plan, long othersBytes, TestRun run) {
        run.manager("--mode", "on", "--quantum", "20ms", "--capacity", "64MiB", "--executors", "none");
        RunningProgram other = run.program("worker", "ms=0", "told=1", "kernel_us=300", "bytes=" + othersBytes).plan(plan)
                .script("memory 64MiB").start();
        other.awaitLine("ready");
        run.program("opens", BuildOutputs.fixture("turns_library.so").toString()).plan(plan).script("memory 64MiB").run()
                .exits(0).says("constructor").says("destructor").says("done");
        other.tell("");
        other.end().exits(0);
    }
}
