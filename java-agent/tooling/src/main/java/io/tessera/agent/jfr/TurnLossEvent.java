package io.tessera.agent.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * Turns that the process gave back with its work drained, so that others could run, in one period. Filled and
 * committed by {@link EventInstaller} alone.
 */
@Name("tessera.TurnLoss")
@Label("GPU turns lost")
@Description("Turns that the process gave back with its work drained, so that others could run, in one period.")
@Category({"Tessera", "GPU"})
@StackTrace(false)
final class TurnLossEvent extends Event {
    @Label("Turns given back")
    long drains;

    @Label("Drained for")
    @Timespan(Timespan.NANOSECONDS)
    long drained;
}
