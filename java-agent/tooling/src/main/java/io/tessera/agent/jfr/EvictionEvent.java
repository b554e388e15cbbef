package io.tessera.agent.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * Device memory of the process that was moved to the host for others, or because it was asked to leave, in one period.
 * Filled and committed by {@link EventInstaller} alone.
 */
@Name("tessera.Eviction")
@Label("GPU memory eviction")
@Description("Device memory of the process that was moved to the host, so that others have it, in one period.")
@Category({"Tessera", "GPU"})
@StackTrace(false)
final class EvictionEvent extends Event {
    @Label("Moved out")
    @DataAmount(DataAmount.BYTES)
    long bytes;

    @Label("Moved for")
    @Timespan(Timespan.NANOSECONDS)
    long moved;

    @Label("Off the device now")
    @DataAmount(DataAmount.BYTES)
    long swapped;
}
