package io.tessera.fuzz.generate;

/** Chooses what a step does. */
final class StepChooser {
    /** One of this many steps is a call, where there are functions. */
    private static final int CALLS = 8;

    private StepChooser() {
    }

    static void take(KernelBody b, long place) {
        boolean block = b.random.nextInt(3) == 0;
        if (block) {
            b.open();
        }
        choose(b, place);
        if (block) {
            b.close();
        }
    }

    private static void choose(KernelBody b, long place) {
        if (b.shape.calls() && b.kernel != null && b.random.nextInt(CALLS) == 0) {
            CallSteps.call(b);
            return;
        }
        switch (b.random.nextInt(28)) {
            case 0, 1 -> ValueSteps.arithmetic(b);
            case 2 -> ValueSteps.wide(b);
            case 3 -> ValueSteps.narrow(b);
            case 4 -> ValueSteps.declare(b);
            case 5, 6, 7 -> MemorySteps.global(b);
            case 8 -> MemorySteps.generic(b);
            case 9, 10 -> MemorySteps.shared(b);
            case 11 -> MemorySteps.inner(b);
            case 12 -> MemorySteps.local(b);
            case 13 -> MemorySteps.constant(b);
            case 14 -> MemorySteps.atomic(b);
            case 15 -> MemorySteps.never(b);
            case 16, 17, 18, 19 -> LoopSteps.counted(b, place);
            case 20 -> LoopSteps.twoWaysIn(b);
            case 21 -> FlowSteps.branch(b, place);
            case 22 -> FlowSteps.table(b, place);
            case 23 -> MemorySteps.copy(b);
            case 24 -> GroupSteps.group(b);
            case 25, 26 -> WalkSteps.walk(b);
            default -> LoopSteps.endless(b);
        }
    }
}
