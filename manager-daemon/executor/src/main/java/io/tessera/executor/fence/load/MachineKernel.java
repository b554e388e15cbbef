package io.tessera.executor.fence.load;

import io.tessera.executor.fence.program.FencedImage;
import io.tessera.guardian.machine.PrintableText;
import io.tessera.guardian.machine.TensorMapPlaces;
import java.util.Map;

/** A kernel of an image that has no PTX to fence. Made by {@link UnfencedImages}, which decides whether it runs. One owner thread. */
public final class MachineKernel {
    private static final int LONGEST_NAME = 500;

    final MachineImage image;
    /** The name for display. */
    final String name;
    final MachineGrade grade;
    /** Why it does not run beside other users' programs; null: it does. */
    final String why;
    private final TensorMapPlaces tensorMaps;
    private final boolean waits;
    private final int addedRegisters;
    /** Whether it may run from now on, beside any client. */
    boolean admitted;
    /** Whether the user was told that it does not run. */
    boolean told;

    private MachineKernel(MachineImage image, String name, MachineGrade grade, String why, TensorMapPlaces tensorMaps) {
        this.image = image;
        this.name = PrintableText.of(name, LONGEST_NAME);
        this.grade = grade;
        this.why = why;
        this.tensorMaps = tensorMaps;
        FencedImage fenced = image.fenced();
        this.waits = tensorMaps == null || name.isEmpty() || fenced.waiting().containsKey(name);
        this.addedRegisters = fenced == null ? 0 : fenced.addedRegisters().getOrDefault(name, 0);
    }

    static MachineKernel of(MachineImage image, String name) {
        FencedImage fenced = image.fenced();
        if (fenced == null) {
            return new MachineKernel(image, name, MachineGrade.UNFENCED, "its image has no fences", null);
        }
        String refused = fenced.refused().get(name);
        if (refused != null) {
            return new MachineKernel(image, name, MachineGrade.UNFENCED, "it has no fence: " + refused, null);
        }
        TensorMapPlaces maps = fenced.tensorMaps().getOrDefault(name, TensorMapPlaces.NONE);
        String trusted = fenced.trusted().get(name);
        if (trusted == null || image.isVendors()) {
            return new MachineKernel(image, name, trusted == null ? MachineGrade.SHOWN : MachineGrade.VENDORS, null, maps);
        }
        return new MachineKernel(image, name, MachineGrade.UNKNOWN, "not all of it is shown to stay there (" + trusted
                + "), and its code is not known as a vendor's; if it is, the user who runs the manager can say so: tessera fence --trust "
                + fenced.hash(),
                maps);
    }

    /** Returns whether its blocks may wait for each other, so that all of its grid has to run at once; true if nothing is known. */
    public boolean mayWaitForBlocks() {
        return waits;
    }

    /** Returns the number that threads of its image write in reports; 0: it has none of its own. */
    public int imageNumber() {
        return image.placed() == null ? 0 : image.placed().number();
    }

    /**
     * Returns whether all that was verified of it also holds for another version of its image.
     *
     * @param symbol its full name
     */
    public boolean isAsGoodIn(FencedImage other, String symbol) {
        FencedImage own = image.fenced();
        return own != null && !own.refused().containsKey(symbol) && !other.refused().containsKey(symbol)
                && holds(own.trusted(), other.trusted(), symbol) && holds(own.endless(), other.endless(), symbol)
                && holds(own.misaligned(), other.misaligned(), symbol) && holds(own.waiting(), other.waiting(), symbol)
                && own.tensorMaps().getOrDefault(symbol, TensorMapPlaces.NONE).equals(other.tensorMaps().getOrDefault(symbol, TensorMapPlaces.NONE));
    }

    private static boolean holds(Map<String, String> own, Map<String, String> other, String symbol) {
        return own.containsKey(symbol) || !other.containsKey(symbol);
    }

    /** Returns the number of registers that it has in addition to those in its image. */
    public int addedRegisters() {
        return addedRegisters;
    }

    /** Returns the places of tensor maps in its parameters; null: it has no fence. */
    public TensorMapPlaces tensorMaps() {
        return tensorMaps;
    }
}
