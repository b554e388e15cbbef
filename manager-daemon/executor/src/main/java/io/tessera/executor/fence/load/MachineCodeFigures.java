package io.tessera.executor.fence.load;

/**
 * Number of images of machine code without PTX that a client has loaded, by the worst grade of their kernels that have run. Each image counts once. Immutable.
 *
 * @param shown    their kernels are verified to stay in the window
 * @param vendors  they are a vendor's, and their kernels stay in the window if they follow the rules of its compilers
 * @param unknown  as above, but their origin is unknown
 * @param unfenced some of their kernels without a fence have run, or they have no fences at all
 */
public record MachineCodeFigures(int shown, int vendors, int unknown, int unfenced) {
    static final MachineCodeFigures NONE = new MachineCodeFigures(0, 0, 0, 0);
}
