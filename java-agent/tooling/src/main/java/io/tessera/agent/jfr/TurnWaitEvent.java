package io.tessera.agent.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * Time that submissions waited for turns, or were held back by their pace, in one period. Filled and committed by
 * {@link EventInstaller} alone.
 */
@Name("tessera.TurnWait")
@Label("GPU turn wait")
@Description("Time that submissions waited for turns, or were held back by their pace, in one period.")
@Category({"Tessera", "GPU"})
@StackTrace(false)
final class TurnWaitEvent extends Event {
    @Label("Waited")
    @Timespan(Timespan.NANOSECONDS)
    long waited;

    @Label("Waits")
    long waits;
}
