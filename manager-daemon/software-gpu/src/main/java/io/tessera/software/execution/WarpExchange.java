package io.tessera.software.execution;

/** Completes the operations that lanes of one warp do together. Stateless. */
final class WarpExchange {
    private WarpExchange() {
    }

    /**
     * Completes every operation whose members have all arrived.
     *
     * @param threads the block's threads
     * @param status  their status
     * @param first   the warp's first thread
     * @param end     after its last
     * @return whether a lane can continue
     */
    static boolean complete(ThreadState[] threads, byte[] status, int first, int end) {
        boolean released = false;
        for (int i = first; i < end; i++) {
            if (status[i] == ThreadStatus.AT_WARP && !threads[i].converged) {
                int members = members(threads, status, first, end, i);
                if (members != 0) {
                    perform(threads, first, members, threads[i].operation);
                    for (int lane = 0; lane < end - first; lane++) {
                        if ((members >>> lane & 1) != 0) {
                            status[first + lane] = ThreadStatus.READY;
                        }
                    }
                    released = true;
                }
            }
        }
        return released;
    }

    /** Lanes that take part with a lane if all of them have arrived; otherwise 0. Exited lanes are not waited for. */
    private static int members(ThreadState[] threads, byte[] status, int first, int end, int of) {
        ThreadState asking = threads[of];
        int mask = asking.mask | 1 << of - first;
        int members = 0;
        for (int lane = 0; lane < end - first; lane++) {
            if ((mask >>> lane & 1) == 0 || status[first + lane] == ThreadStatus.EXITED) {
                continue;
            }
            ThreadState other = threads[first + lane];
            if (status[first + lane] != ThreadStatus.AT_WARP || other.operation != asking.operation || other.converged
                    || (other.mask | 1 << lane) != mask
                    || asking.operation == WarpOperation.FUNCTION && other.function != asking.function) {
                return 0;
            }
            members |= 1 << lane;
        }
        return members;
    }

    /** Completes an operation of lanes that are at the same place and that no other lane can join any more. */
    static boolean completeConverged(ThreadState[] threads, byte[] status, int first, int end) {
        for (int i = first; i < end; i++) {
            if (status[i] == ThreadStatus.AT_WARP && threads[i].converged) {
                int members = 0;
                for (int j = i; j < end; j++) {
                    if (status[j] == ThreadStatus.AT_WARP && threads[j].converged && threads[j].mask == threads[i].mask) {
                        members |= 1 << j - first;
                        status[j] = ThreadStatus.READY;
                    }
                }
                perform(threads, first, members, threads[i].operation);
                return true;
            }
        }
        return false;
    }

    private static void perform(ThreadState[] threads, int first, int members, WarpOperation operation) {
        switch (operation) {
            case SYNC -> {}
            case ACTIVEMASK -> give(threads, first, members, Integer.toUnsignedLong(members));
            case SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX -> shuffle(threads, first, members, operation);
            case VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT -> vote(threads, first, members, operation);
            case MATCH_ANY, MATCH_ALL -> match(threads, first, members, operation == WarpOperation.MATCH_ALL);
            case ELECT -> elect(threads, first, members);
            case FUNCTION -> threads[first + Integer.numberOfTrailingZeros(members)].function.apply(threads, first, members);
            default -> reduce(threads, first, members, operation);
        }
    }

    /** PTX ISA, "shfl.sync": source lane, range check and segment as its pseudo-code has them. */
    private static void shuffle(ThreadState[] threads, int first, int members, WarpOperation operation) {
        for (int lane = 0; lane < 32; lane++) {
            if ((members >>> lane & 1) == 0) {
                continue;
            }
            ThreadState thread = threads[first + lane];
            int b = thread.laneOperand & 0x1F;
            int clamp = thread.clamp & 0x1F;
            int segment = thread.clamp >>> 8 & 0x1F;
            int maxLane = lane & segment | clamp & ~segment;
            int minLane = lane & segment;
            int source = switch (operation) {
                case SHFL_UP -> lane - b;
                case SHFL_DOWN -> lane + b;
                case SHFL_BFLY -> lane ^ b;
                default -> minLane | b & ~segment;
            };
            thread.flag = operation == WarpOperation.SHFL_UP ? source >= maxLane : source <= maxLane;
            if (!thread.flag) {
                source = lane;
            }
            // A source that is not a member gives an undefined value; its own one is as good as any.
            boolean member = (members >>> source & 1) != 0;
            thread.result = member ? threads[first + source].value : thread.value;
        }
    }

    private static void vote(ThreadState[] threads, int first, int members, WarpOperation operation) {
        int ballot = 0;
        for (int lane = 0; lane < 32; lane++) {
            if ((members >>> lane & 1) != 0 && threads[first + lane].value != 0) {
                ballot |= 1 << lane;
            }
        }
        long result = switch (operation) {
            case VOTE_ALL -> ballot == members ? 1 : 0;
            case VOTE_ANY -> ballot != 0 ? 1 : 0;
            case VOTE_UNI -> ballot == members || ballot == 0 ? 1 : 0;
            default -> Integer.toUnsignedLong(ballot);
        };
        give(threads, first, members, result);
    }

    private static void give(ThreadState[] threads, int first, int members, long result) {
        for (int lane = 0; lane < 32; lane++) {
            if ((members >>> lane & 1) != 0) {
                threads[first + lane].result = result;
            }
        }
    }

    private static void match(ThreadState[] threads, int first, int members, boolean all) {
        for (int lane = 0; lane < 32; lane++) {
            if ((members >>> lane & 1) == 0) {
                continue;
            }
            int same = 0;
            for (int other = 0; other < 32; other++) {
                if ((members >>> other & 1) != 0 && threads[first + other].value == threads[first + lane].value) {
                    same |= 1 << other;
                }
            }
            ThreadState thread = threads[first + lane];
            thread.flag = same == members;
            thread.result = all && !thread.flag ? 0 : Integer.toUnsignedLong(same);
        }
    }

    private static void elect(ThreadState[] threads, int first, int members) {
        int leader = Integer.numberOfTrailingZeros(members);
        for (int lane = 0; lane < 32; lane++) {
            if ((members >>> lane & 1) != 0) {
                threads[first + lane].flag = lane == leader;
                threads[first + lane].result = leader;
            }
        }
    }

    private static void reduce(ThreadState[] threads, int first, int members, WarpOperation operation) {
        int result = (int) threads[first + Integer.numberOfTrailingZeros(members)].value;
        for (int lane = Integer.numberOfTrailingZeros(members) + 1; lane < 32; lane++) {
            if ((members >>> lane & 1) == 0) {
                continue;
            }
            int value = (int) threads[first + lane].value;
            result = switch (operation) {
                case REDUX_ADD -> result + value;
                case REDUX_MIN_S -> Math.min(result, value);
                case REDUX_MAX_S -> Math.max(result, value);
                case REDUX_MIN_U -> Integer.compareUnsigned(value, result) < 0 ? value : result;
                case REDUX_MAX_U -> Integer.compareUnsigned(value, result) > 0 ? value : result;
                case REDUX_AND -> result & value;
                case REDUX_OR -> result | value;
                case REDUX_XOR -> result ^ value;
                default -> throw new IllegalStateException("no reduction: " + operation);
            };
        }
        give(threads, first, members, Integer.toUnsignedLong(result));
    }
}
