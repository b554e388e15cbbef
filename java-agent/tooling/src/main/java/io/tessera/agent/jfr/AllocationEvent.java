package io.tessera.agent.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** An allocation of device or pinned memory. Filled and committed by {@link EventInstaller} alone. */
@Name("tessera.Allocation")
@Label("GPU allocation")
@Description("An allocation of device or pinned memory.")
@Category({"Tessera", "GPU"})
@StackTrace(true)
final class AllocationEvent extends Event {
    @Label("Address")
    @MemoryAddress
    long address;

    @Label("Size")
    @DataAmount(DataAmount.BYTES)
    long bytes;

    @Label("Kind")
    String kind;

    @Label("Call site")
    String site;
}
