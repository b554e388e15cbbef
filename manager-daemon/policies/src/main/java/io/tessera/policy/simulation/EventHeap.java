package io.tessera.policy.simulation;

import java.util.PriorityQueue;

/** Future events by time; of the same time, in the order in which they were added. Not thread-safe. */
final class EventHeap {
    private record Event(long atNs, long number, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long numbers;

    void add(long atNs, Runnable action) {
        events.add(new Event(atNs, ++numbers, action));
    }

    /** Returns the time of the next event; {@link Long#MAX_VALUE}: there is none. */
    long nextNs() {
        return events.isEmpty() ? Long.MAX_VALUE : events.peek().atNs();
    }

    void runNext() {
        events.remove().action().run();
    }
}
