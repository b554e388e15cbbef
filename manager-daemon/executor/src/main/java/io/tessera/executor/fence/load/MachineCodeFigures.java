package io.tessera.executor.fence.load;

/**
 * Images of machine code without PTX that a client has loaded, by the grade of their kernels that have run. Each counts once. Immutable.
 *
 * @param shown    their kernels are verified to stay in the window
 * @param vendors  they are a vendor's, and their kernels stay in the window as long as they keep the rules of its compilers
 * @param unknown  as above, but their origin is unknown
 * @param unfenced kernels without a fence have run, or there are no fences
 */
public record MachineCodeFigures(int shown, int vendors, int unknown, int unfenced) {
    static final MachineCodeFigures NONE = new MachineCodeFigures(0, 0, 0, 0);
}
