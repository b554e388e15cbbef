package io.tessera.executor.fence.load;

import io.tessera.guardian.machine.verify.TensorMapPlaces;

/** A kernel of an image that has no PTX to fence. Made by {@link UnfencedImages}, which decides whether it runs. One owner thread. */
public final class MachineKernel {
    final MachineImage image;
    final String name;
    final MachineGrade grade;
    /** Why it does not run beside other users' programs; null: it does. */
    final String why;
    private final TensorMapPlaces tensorMaps;
    /** Whether it may run from now on, whoever comes. */
    boolean admitted;
    /** Whether its user was told that it does not run. */
    boolean told;

    MachineKernel(MachineImage image, String name, MachineGrade grade, String why, TensorMapPlaces tensorMaps) {
        this.image = image;
        this.name = name;
        this.grade = grade;
        this.why = why;
        this.tensorMaps = tensorMaps;
    }

    /** Where in its parameters tensor maps lie; null: it has no fence. */
    public TensorMapPlaces tensorMaps() {
        return tensorMaps;
    }
}
