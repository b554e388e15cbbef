package io.tessera.agent.jfr;

import java.util.function.BooleanSupplier;
import jdk.jfr.FlightRecorder;

/** Tells whether Flight Recorder is in use. If so, it is already loaded, and events are wanted from the start. */
public final class RecordingCheck implements BooleanSupplier {
    /** Creates the check without running it. */
    public RecordingCheck() {
    }

    @Override
    public boolean getAsBoolean() {
        return FlightRecorder.isInitialized();
    }
}
