package io.tessera.agent.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A launch, a library call or a copy whose stack was taken. Filled and committed by {@link EventInstaller} alone. */
@Name("tessera.LaunchSample")
@Label("GPU launch sample")
@Description("A launch, a library call or a copy whose stack was taken.")
@Category({"Tessera", "GPU"})
@StackTrace(true)
final class LaunchSampleEvent extends Event {
    @Label("Kernel")
    String kernel;

    @Label("Call site")
    String site;

    @Label("Launches it stands for")
    long weight;
}
