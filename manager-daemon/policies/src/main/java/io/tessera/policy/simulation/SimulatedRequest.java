package io.tessera.policy.simulation;

/**
 * A request that has come.
 *
 * @param atNs     when
 * @param lengthNs for how long the device works on it
 * @param loop     whose it is; null: it came by itself
 */
record SimulatedRequest(long atNs, long lengthNs, LoopState loop) {
    /** How far a loop is. */
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
