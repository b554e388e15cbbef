package io.tessera.policy.simulation;

/**
 * A request that has arrived.
 *
 * @param atNs     time of its arrival
 * @param lengthNs time that the device works on it
 * @param loop     loop that it belongs to; null: none
 */
record SimulatedRequest(long atNs, long lengthNs, LoopState loop) {
    /** Progress of a loop. */
    static final class LoopState {
        final RequestLoop loop;
        private long left;

        LoopState(RequestLoop loop) {
            this.loop = loop;
            this.left = loop.requests();
        }

        /** Takes one more request of the loop, which would come at a time; returns whether there is one. */
        boolean take(long atNs) {
            if (left == 0 || atNs >= loop.untilNs()) {
                return false;
            }
            left -= left == Long.MAX_VALUE ? 0 : 1;
            return true;
        }
    }
}
