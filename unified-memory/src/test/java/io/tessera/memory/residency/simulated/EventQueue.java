package io.tessera.memory.residency.simulated;

import java.util.PriorityQueue;

/** Simulated time: events in the order of their times, equal ones in the order in which they were entered. */
final class EventQueue {
    private record Event(long atNs, long number, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long numbers;
    private long nowNs;

    long nowNs() {
        return nowNs;
    }

    void after(long delayNs, Runnable action) {
        events.add(new Event(nowNs + Math.max(0, delayNs), numbers++, action));
    }

    /** Runs the next event if it lies no later than {@code endNs}. */
    boolean next(long endNs) {
        if (events.isEmpty() || events.peek().atNs() > endNs) {
            return false;
        }
        Event event = events.poll();
        nowNs = event.atNs();
        event.action().run();
        return true;
    }
}
