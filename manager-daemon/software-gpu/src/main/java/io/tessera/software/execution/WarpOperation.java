package io.tessera.software.execution;

/** Operation that the lanes of a warp execute together. */
public enum WarpOperation {
    SYNC, SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX, VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT, MATCH_ANY, MATCH_ALL, REDUX_ADD, REDUX_MIN_S, REDUX_MAX_S, REDUX_MIN_U, REDUX_MAX_U, REDUX_AND, REDUX_OR, REDUX_XOR, ELECT,
    /** The result of {@link ThreadState#function} from several values of each lane. */
    FUNCTION,
    /** The set of lanes that take part. */
    ACTIVEMASK
}
