package io.tessera.bench.relay;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The executor takes each record that is measured: a refused one would be measured, too, and throws. */
@Timeout(60)
class RelayRecordBenchmarkTest {
    private final RelayRecordBenchmark benchmark = new RelayRecordBenchmark();

    @BeforeEach
    void prepare() throws Exception {
        benchmark.prepare();
    }

    @AfterEach
    void end() {
        benchmark.end();
    }

    @Test
    void launchesAreTaken() throws Exception {
        benchmark.launch();
    }

    @Test
    void callsWithoutAReplyAreTaken() throws Exception {
        benchmark.post();
    }

    @Test
    void callsWithAReplyAreTaken() throws Exception {
        benchmark.call();
    }
}
