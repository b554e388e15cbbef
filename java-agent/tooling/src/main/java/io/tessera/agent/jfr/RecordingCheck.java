package io.tessera.agent.jfr;

import java.util.function.BooleanSupplier;
import jdk.jfr.FlightRecorder;

/** Whether Flight Recorder is in use: then nothing of it is left to load, and events from the start on are wanted. */
public final class RecordingCheck implements BooleanSupplier {
    /** Asks nothing yet. */
    public RecordingCheck() {
    }

    @Override
    public boolean getAsBoolean() {
        return FlightRecorder.isInitialized();
    }
}
