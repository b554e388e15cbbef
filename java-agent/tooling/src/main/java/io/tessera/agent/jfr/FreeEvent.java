package io.tessera.agent.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** The end of an allocation. Filled and committed by {@link EventInstaller} alone. */
@Name("tessera.Free")
@Label("GPU free")
@Description("The end of an allocation.")
@Category({"Tessera", "GPU"})
@StackTrace(true)
final class FreeEvent extends Event {
    @Label("Address")
    @MemoryAddress
    long address;

    @Label("Size")
    @DataAmount(DataAmount.BYTES)
    long bytes;

    @Label("Kind")
    String kind;

    @Label("Allocated at")
    String site;

    @Label("Age")
    @Timespan(Timespan.NANOSECONDS)
    long age;
}
