package io.tessera.agent.jfr;

import io.tessera.agent.boot.Allocation;
import io.tessera.agent.boot.Recorder;
import io.tessera.agent.boot.Segment;
import io.tessera.agent.boot.Sink;
import io.tessera.agent.boot.Site;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;

/**
 * Passes the recorder's events on to Flight Recorder. An event that no recording wants costs one field read. Allocation
 * events are committed on the application's threads, so their stack traces are the application's; waits are read from
 * the driver library's counters by the agent's thread, which runs this.
 */
public final class EventInstaller implements Runnable, Sink {
    private final EventType allocations = EventType.getEventType(AllocationEvent.class);
    private final EventType frees = EventType.getEventType(FreeEvent.class);
    private long waitNanos = Segment.waitNanos();
    private long waits = Segment.waits();
    private long drains = Segment.drains();
    private long drainNanos = Segment.drainNanos();
    private long evictedBytes = Segment.evictedBytes();
    private long evictionNanos = Segment.evictionNanos();

    /** Registers the events and listens to the recorder. */
    public EventInstaller() {
        FlightRecorder.register(LaunchSampleEvent.class);
        FlightRecorder.register(TurnWaitEvent.class);
        FlightRecorder.register(TurnLossEvent.class);
        FlightRecorder.register(EvictionEvent.class);
        Recorder.sink(this);
    }

    @Override
    public boolean wantsAllocations() {
        return allocations.isEnabled() || frees.isEnabled();
    }

    @Override
    public void allocated(Allocation allocation) {
        AllocationEvent event = new AllocationEvent();
        event.address = allocation.address();
        event.bytes = allocation.bytes();
        event.kind = allocation.kind().label();
        event.site = allocation.site().text();
        event.commit();
    }

    @Override
    public void freed(Allocation allocation, long ageNanos) {
        FreeEvent event = new FreeEvent();
        event.address = allocation.address();
        event.bytes = allocation.bytes();
        event.kind = allocation.kind().label();
        event.site = allocation.site().text();
        event.age = ageNanos;
        event.commit();
    }

    @Override
    public void launched(String kernel, Site site, long weight) {
        LaunchSampleEvent event = new LaunchSampleEvent();
        if (event.isEnabled()) {
            event.kernel = kernel;
            event.site = site.text();
            event.weight = weight;
            event.commit();
        }
    }

    /** Runs one period: records how much the driver library's counters have grown since the previous one. */
    @Override
    public void run() {
        turns();
        memory();
    }

    private void memory() {
        long nowBytes = Segment.evictedBytes();
        if (nowBytes != evictedBytes) {
            EvictionEvent event = new EvictionEvent();
            event.bytes = nowBytes - evictedBytes;
            event.moved = Segment.evictionNanos() - evictionNanos;
            event.swapped = Segment.swappedBytes();
            evictedBytes = nowBytes;
            evictionNanos += event.moved;
            event.commit();
        }
    }

    private void turns() {
        long nowWaits = Segment.waits();
        if (nowWaits != waits) {
            TurnWaitEvent event = new TurnWaitEvent();
            event.waited = Segment.waitNanos() - waitNanos;
            event.waits = nowWaits - waits;
            waitNanos += event.waited;
            waits = nowWaits;
            event.commit();
        }
        long nowDrains = Segment.drains();
        if (nowDrains != drains) {
            TurnLossEvent event = new TurnLossEvent();
            event.drains = nowDrains - drains;
            event.drained = Segment.drainNanos() - drainNanos;
            drains = nowDrains;
            drainNanos += event.drained;
            event.commit();
        }
    }
}
